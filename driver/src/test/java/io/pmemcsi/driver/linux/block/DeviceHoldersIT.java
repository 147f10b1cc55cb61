package io.pmemcsi.driver.linux.block;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceHoldersIT {

  private final ProcessRunner runner = new ProcessRunner();

  /** The kernel escapes spaces and ends of lines in its tables, but no carriage returns. */
  @Test
  void aMountPointWithACarriageReturnIsNamedInFull(@TempDir Path directory) throws IOException {
    Path place = Files.createDirectory(directory.toRealPath().resolve("a\rb"));
    runner.run(Command.of("mount", "-t", "tmpfs", "tmpfs", place.toString()));
    // another process in the same mount namespace: the driver itself is left out
    Process other = new ProcessBuilder("cat").start();
    try {
      DeviceNumber number = MountTable.read().at(place).orElseThrow().number();

      assertThat(new DeviceHolders(number).describe()).contains("mounted at " + place + " by ");
    } finally {
      other.destroyForcibly().onExit().join();
      runner.run(Command.of("umount", place.toString()));
    }
  }
}
