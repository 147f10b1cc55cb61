package io.pmemcsi.testbed.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What the guest boots from: kernel, initrd and root file system, made once by testbed/guest/setup.
 */
record GuestImage(Path directory, Path scripts) {
  private static final int BUILD_MINUTES = 15;

  Path kernel() {
    return directory.resolve("vmlinux");
  }

  Path initrd() {
    return directory.resolve("initrd.img");
  }

  Path root() {
    return directory.resolve("rootfs");
  }

  /** Builds the image where this machine has none yet, which takes a minute or two. */
  static GuestImage prepare() {
    Path scripts = findScripts();
    try {
      Process setup =
          new ProcessBuilder(scripts.resolve("setup").toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      setup.getOutputStream().close();
      if (!setup.waitFor(BUILD_MINUTES, TimeUnit.MINUTES)) {
        setup.descendants().forEach(ProcessHandle::destroyForcibly);
        setup.destroyForcibly();
        throw new GuestException("building the guest took over " + BUILD_MINUTES + " minutes");
      }
      String answer =
          new String(setup.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (setup.exitValue() != 0) {
        throw new GuestException(
            "%s failed with exit code %d; its messages are above"
                .formatted(scripts.resolve("setup"), setup.exitValue()));
      }
      return new GuestImage(Path.of(answer), scripts);
    } catch (IOException e) {
      throw new GuestException("cannot build the guest", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GuestException("interrupted while building the guest", e);
    }
  }

  /** Tests run in a module's directory, the scripts are in another one of the same tree. */
  private static Path findScripts() {
    for (@Nullable Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
      Path candidate = p.resolve("testbed/guest");
      if (Files.isExecutable(candidate.resolve("setup"))) {
        return candidate;
      }
    }
    throw new GuestException(
        "no testbed/guest/setup above "
            + Path.of("").toAbsolutePath()
            + ": run inside the source tree");
  }
}
