package io.pmemcsi.driver.device.ndctl;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * ndctl works by writing to /sys, which some container runtimes mount read-only even in privileged
 * containers. The host's own is then expected at /host-sys.
 */
public final class WritableSys {
  private static final Path SYS = Path.of("/sys");
  private static final Path HOST_SYS = Path.of("/host-sys");
  private static final Path REGIONS = Path.of("/sys/bus/nd/devices");

  private WritableSys() {}

  /** Ensures that /sys is writable on a node that has memory to manage. */
  public static void ensure(CommandRunner runner) {
    if (hasRegion(REGIONS)) {
      ensure(runner, MountTable::read, Files.isDirectory(HOST_SYS));
    }
  }

  /** Whether the kernel knows any region; a node that has none needs no writable /sys. */
  static boolean hasRegion(Path devices) {
    try (Stream<Path> all = Files.list(devices)) {
      return all.anyMatch(device -> device.getFileName().toString().startsWith("region"));
    } catch (IOException e) {
      // the kernel was built without this kind of memory, or has not loaded the module for it
      return false;
    }
  }

  static void ensure(CommandRunner runner, Supplier<MountTable> table, boolean hostSys) {
    if (isWritable(table.get())) {
      return;
    }
    if (hostSys) {
      runner.run(Command.of("mount", "--bind", HOST_SYS.toString(), SYS.toString()));
      if (isWritable(table.get())) {
        return;
      }
    }
    throw new FatalException(
        "/sys is mounted read-only, can not operate: mount the host's /sys at /host-sys into the"
            + " driver's container");
  }

  private static boolean isWritable(MountTable table) {
    return table.at(SYS).map(MountEntry::isReadOnly).map(readOnly -> !readOnly).orElse(false);
  }
}
