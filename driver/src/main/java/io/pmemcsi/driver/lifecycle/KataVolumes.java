package io.pmemcsi.driver.lifecycle;

import io.grpc.Status;
import io.pmemcsi.driver.device.BlockDevices;
import io.pmemcsi.driver.kata.ImageFiles;
import io.pmemcsi.driver.kata.ImageLayout;
import io.pmemcsi.driver.loop.LoopDevices;
import io.pmemcsi.driver.loop.LoopDevices.Loop;
import io.pmemcsi.driver.mount.FilesystemType;
import io.pmemcsi.driver.mount.MountEntry;
import io.pmemcsi.driver.mount.Mounts;
import io.pmemcsi.driver.volume.LedgerEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Publishes the filesystem inside a volume's image file: the volume itself is mounted in the state
 * folder, and pods get a loop device on the file, which the Kata runtime recognises.
 */
public final class KataVolumes {

  private final Path folder;
  private final Mounts mounts;
  private final LoopDevices loops;
  private final ImageFiles images;

  public KataVolumes(Path stateFolder, Mounts mounts, LoopDevices loops, ImageFiles images) {
    this.folder = stateFolder.toAbsolutePath().resolve("mount");
    this.mounts = mounts;
    this.loops = loops;
    this.images = images;
  }

  /** Where the volume itself is mounted while it is published. */
  Path hostMount(LedgerEntry entry) {
    return folder.resolve(entry.id().value());
  }

  /**
   * Mounts the image of a volume.
   *
   * @param mountVolume mounts the volume at the path it is given
   */
  void publish(
      LedgerEntry entry,
      Path target,
      Access.Mount access,
      List<String> options,
      Consumer<Path> mountVolume) {
    Path host = hostMount(entry);
    try {
      Files.createDirectories(folder);
      Paths.makeFolder(host);
      if (mounts.table().at(host).isEmpty()) {
        mountVolume.accept(host);
      }
      FilesystemType type = access.type().orElse(FilesystemType.EXT4);
      Path image = images.ensure(host, type);
      Path loop =
          loops
              .find(image, ImageLayout.HEADER_BYTES)
              .map(Loop::device)
              .orElseGet(() -> loops.attach(image, ImageLayout.HEADER_BYTES));
      if (!isMounted(target, loop, options.contains("ro"))) {
        mounts.mount(loop, target, type, options.contains("ro") ? List.of("ro") : List.of());
      }
    } catch (IOException e) {
      throw new RefusedException(
          Status.Code.INTERNAL,
          "Kata image file of volume %s: %s".formatted(entry.id(), e.getMessage()));
    }
  }

  /** Takes everything down that no other pod needs; the image file stays for the next one. */
  void unpublish(LedgerEntry entry, Path target) {
    if (mounts.table().at(target).isPresent()) {
      mounts.unmount(target);
    }
    Path host = hostMount(entry);
    Path image = host.resolve(ImageFiles.NAME);
    if (Files.exists(image)) {
      for (Loop loop : loops.of(image)) {
        if (!mountsOf(loop.device()).isEmpty()) {
          return;
        }
        loops.detach(loop.device());
      }
    }
    while (mounts.table().at(host).isPresent()) {
      mounts.unmount(host);
    }
    Paths.remove(host);
  }

  /** The mounts of the filesystem inside the image. */
  List<MountEntry> publications(LedgerEntry entry) {
    Path image = hostMount(entry).resolve(ImageFiles.NAME);
    return Files.exists(image)
        ? loops.of(image).stream().flatMap(loop -> mountsOf(loop.device()).stream()).toList()
        : List.of();
  }

  private List<MountEntry> mountsOf(Path loop) {
    return mounts.table().of(number(loop));
  }

  private boolean isMounted(Path target, Path loop, boolean readOnly) {
    Optional<MountEntry> there = mounts.table().at(target);
    there
        .filter(mount -> !mount.number().equals(number(loop)))
        .ifPresent(
            mount -> {
              throw RefusedException.exists(
                  "something else is mounted at %s: %s".formatted(target, mount.source()));
            });
    there.ifPresent(
        mount ->
            VolumeMounts.requireSame(
                mount, new Access.Mount(Optional.empty(), List.of(), false), readOnly));
    return there.isPresent();
  }

  private static String number(Path loop) {
    try {
      return BlockDevices.number(loop);
    } catch (IOException e) {
      throw new RefusedException(
          Status.Code.INTERNAL, "cannot look at %s: %s".formatted(loop, e.getMessage()));
    }
  }
}
