package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterEach;

/** A directory per test, in which the test starts its drivers, and a check for leaks afterwards. */
abstract class ScratchPerTest {

  final Scratch scratch = new Scratch();

  @AfterEach
  void assertNoLeaks() throws IOException {
    try (scratch) {
      // kubelet owns it, so NodeUnstageVolume does not remove it
      Files.deleteIfExists(scratch.pod("staging"));
      scratch.assertNothingLeft();
    }
  }

  /** A driver that runs commands with the given runner. */
  final FileModeDriver start(CommandRunner runner) {
    return FileModeDriver.start(
        scratch.directory(), runner, new DurableFiles(), FileModeDriver.POOL);
  }

  /** A driver that uses the given loop device calls. */
  final FileModeDriver start(LoopCalls loops) {
    return FileModeDriver.start(
        scratch.directory(),
        new HostAccess(new ProcessRunner(), new DurableFiles(), new KernelMounts(), loops),
        FileModeDriver.POOL);
  }
}
