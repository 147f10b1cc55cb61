package io.pmemcsi.driver;

import io.pmemcsi.driver.command.ProcessRunner;
import io.pmemcsi.driver.loop.LoopDevices;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A driver for each test, which may be stopped, changed behind its back and started again. */
abstract class OwnDriver {

  final Scratch scratch = new Scratch();
  final ProcessRunner runner = new ProcessRunner();
  FileModeDriver driver;
  Calls csi;

  @BeforeEach
  void start() {
    driver = FileModeDriver.start(scratch.folder());
    csi = new Calls(driver);
  }

  @AfterEach
  void stopAndLookForLeaks() {
    driver.close();
    try (scratch) {
      scratch.assertNothingLeft();
    }
  }

  final void restart() {
    driver.close();
    start();
  }

  /** The file that stands for the memory of a volume. */
  final Path image(String volumeId) {
    return scratch.state().resolve("devices").resolve(volumeId + ".img");
  }

  final Path device(String volumeId) {
    return new LoopDevices(runner).of(image(volumeId)).getFirst().device();
  }

  /** What a reboot does to a device: the file stays. */
  final void detach(String volumeId) {
    new LoopDevices(runner).detach(device(volumeId));
  }
}
