package io.pmemcsi.driver.linux.block;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Who holds a device, so that an administrator need not search: other devices on top of it, mounts
 * in any mount namespace, and processes that have it open. In a container only its own processes
 * are visible.
 */
record DeviceHolders(DeviceNumber number) {

  private static final Path PROCESSES = Path.of("/proc");
  private static final int MOUNT_POINT = 4;
  private static final int MOST = 4;

  /** In words, also if nothing is found. */
  String describe() {
    List<String> found =
        Stream.concat(devices().stream(), processes().stream()).limit(MOST).toList();
    return found.isEmpty()
        ? "by a process that this container does not see; on the node \"grep -l ' %s ' /proc/[0-9]*/mountinfo\" names those that have it mounted"
            .formatted(number)
        : String.join(", ", found);
  }

  /** Such as those of the device mapper. */
  private List<String> devices() {
    try (Stream<Path> all = Files.list(Path.of("/sys/dev/block", number.toString(), "holders"))) {
      return all.map(device -> "used by device " + device.getFileName()).sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private List<String> processes() {
    // most processes share a mount namespace: the first one stands for all
    Map<String, String> byNamespace = new LinkedHashMap<>();
    try (Stream<Path> all = Files.list(PROCESSES)) {
      for (Path process : all.filter(DeviceHolders::isProcess).sorted().toList()) {
        mountedBy(process).ifPresent(text -> byNamespace.putIfAbsent(namespace(process), text));
        if (hasOpen(process)) {
          byNamespace.put(process.toString(), "opened by " + name(process));
        }
      }
    } catch (IOException e) {
      // as far as it was read
    }
    return List.copyOf(byNamespace.values());
  }

  private static boolean isProcess(Path directory) {
    String name = directory.getFileName().toString();
    return Character.isDigit(name.charAt(0))
        && !name.equals(Long.toString(ProcessHandle.current().pid()));
  }

  private Optional<String> mountedBy(Path process) {
    String part = " " + number + " ";
    try {
      byte[] table = Files.readAllBytes(process.resolve("mountinfo"));
      // not lines(): a path may have a carriage return in it, which the kernel does not escape
      return Arrays.stream(new String(table, StandardCharsets.ISO_8859_1).split("\n", -1))
          .filter(line -> line.contains(part))
          .findFirst()
          .map(
              line ->
                  "mounted at %s by %s".formatted(line.split(" ", -1)[MOUNT_POINT], name(process)));
    } catch (IOException e) {
      return Optional.empty(); // it has ended, or is a zombie
    }
  }

  private static String namespace(Path process) {
    try {
      return Files.readSymbolicLink(process.resolve("ns/mnt")).toString();
    } catch (IOException e) {
      return process.toString();
    }
  }

  private boolean hasOpen(Path process) {
    try (Stream<Path> files = Files.list(process.resolve("fd"))) {
      return files.anyMatch(file -> BlockDevices.leadsTo(file, number));
    } catch (IOException e) {
      return false;
    }
  }

  private static String name(Path process) {
    try {
      String name = Files.readString(process.resolve("comm"), StandardCharsets.ISO_8859_1).strip();
      return "process %s (%s)".formatted(process.getFileName(), name);
    } catch (IOException e) {
      return "process " + process.getFileName();
    }
  }
}
