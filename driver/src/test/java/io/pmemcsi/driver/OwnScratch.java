package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterEach;

/** A folder for each test, which starts its drivers in it, and a look for leaks at the end. */
abstract class OwnScratch {

  final Scratch scratch = new Scratch();

  @AfterEach
  void lookForLeaks() throws IOException {
    try (scratch) {
      // NodeUnstageVolume leaves it: it is kubelet's
      Files.deleteIfExists(scratch.pod("staging"));
      scratch.assertNothingLeft();
    }
  }

  /** A driver whose commands go through other hands. */
  final FileModeDriver start(CommandRunner runner) {
    return FileModeDriver.start(scratch.folder(), runner, new DurableFiles(), FileModeDriver.POOL);
  }

  /** A driver whose loop devices go through other hands. */
  final FileModeDriver start(LoopCalls loops) {
    return FileModeDriver.start(
        scratch.folder(),
        new HostAccess(new ProcessRunner(), new DurableFiles(), new KernelMounts(), loops),
        FileModeDriver.POOL);
  }
}
