package io.pmemcsi.testbed.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Loop devices, which belong to the whole machine: no namespace takes them along. */
final class LoopDevices {

  private LoopDevices() {}

  /**
   * The devices with a backing file below a directory, and that file. The kernel knows the file by
   * its path in a container, so files are compared by their inodes.
   */
  static Map<String, Path> below(Path directory) {
    try (Stream<Path> files = Files.walk(directory)) {
      Map<String, Path> inodes =
          files
              .filter(Files::isRegularFile)
              .collect(Collectors.toMap(LoopDevices::inode, file -> file, (a, _) -> a));
      return run("losetup", "--list", "--noheadings", "--raw", "--output=NAME,BACK-INO")
          .lines()
          .map(line -> line.split(" "))
          .filter(line -> line.length == 2 && inodes.containsKey(line[1]))
          .collect(Collectors.toMap(line -> line[0], line -> inodes.get(line[1])));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + directory, e);
    }
  }

  static void detachBelow(Path directory) {
    below(directory).keySet().forEach(device -> run("losetup", "--detach", device));
  }

  private static String inode(Path file) {
    try {
      return String.valueOf(Files.getAttribute(file, "unix:ino"));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }

  private static String run(String... command) {
    try {
      Process process = new ProcessBuilder(List.of(command)).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new IllegalStateException("%s failed: %s".formatted(command[0], output));
      }
      return output;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot run " + command[0], e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while running " + command[0], e);
    }
  }
}
