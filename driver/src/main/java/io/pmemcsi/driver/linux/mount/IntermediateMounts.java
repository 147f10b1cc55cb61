package io.pmemcsi.driver.linux.mount;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bind mounts with options on kernels before 5.12, which cannot set attributes of a mount before it
 * is attached. A bind mount inherits the attributes of the mount that it is made from: the driver
 * makes one in a directory of its own, changes its options, and makes the real one from that.
 *
 * <p>Filesystems that are only mounted to replay their logs are here as well.
 *
 * @param directory where the intermediate mounts are; nothing else is in there
 */
record IntermediateMounts(Path directory, Mounts mounts) {
  private static final Logger LOG = LoggerFactory.getLogger(IntermediateMounts.class);

  void bind(Path source, Path target, List<String> options) {
    Path intermediate = create(Files.isDirectory(source));
    try {
      mounts.bind(source, intermediate);
      mounts.remount(intermediate, options);
      mounts.bind(intermediate, target);
    } finally {
      Cancellation.uncancellable(() -> remove(intermediate));
    }
  }

  /** Mounts a filesystem for a moment. */
  void mount(Path device, FilesystemType type, List<String> options) {
    Path place = create(true);
    try {
      mounts.mount(device, place, type, options);
    } finally {
      Cancellation.uncancellable(() -> remove(place));
    }
  }

  private Path create(boolean asDirectory) {
    Path place = directory.resolve(UUID.randomUUID().toString());
    try {
      Files.createDirectories(directory);
      return asDirectory ? Files.createDirectory(place) : Files.createFile(place);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot create %s for an intermediate mount: %s".formatted(place, Reason.of(e)), e);
    }
  }

  /**
   * Removes what a killed driver left; it would keep volumes in use. What cannot be removed does
   * not keep the driver from serving other volumes.
   */
  void removeAll() {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (var all = Files.list(directory)) {
      all.forEach(
          left -> {
            try {
              remove(left);
            } catch (UncheckedIOException | ToolFailedException e) {
              LOG.atWarn()
                  .addKeyValue("error", e.getMessage())
                  .log("An intermediate mount of a killed driver was not removed.");
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list %s: %s".formatted(directory, Reason.of(e)), e);
    }
  }

  private void remove(Path intermediate) {
    while (mounts.table().at(intermediate).isPresent()) {
      mounts.unmount(intermediate);
    }
    try {
      Files.deleteIfExists(intermediate);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot remove %s: %s".formatted(intermediate, Reason.of(e)), e);
    }
  }
}
