package io.pmemcsi.driver;

import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A driver per test, which the test may stop, start again and whose state it may change. */
abstract class DriverPerTest extends ScratchPerTest {

  final ProcessRunner runner = new ProcessRunner();
  private final LoopDevices loops = new LoopDevices(new KernelLoops());
  FileModeDriver driver;
  Calls csi;

  @BeforeEach
  void start() {
    driver = FileModeDriver.start(scratch.directory());
    csi = new Calls(driver);
  }

  @AfterEach
  void stop() {
    driver.close();
  }

  final void restart() {
    driver.close();
    start();
  }

  /** The findings of the audit at the start of the driver. */
  final List<Kind> findings() {
    return driver.driver().startAudit().findings().stream().map(Finding::kind).toList();
  }

  /** The backing file of a volume. */
  final Path image(String volumeId) {
    return scratch.state().resolve("devices").resolve(volumeId + ".img");
  }

  final Path device(String volumeId) {
    return loopsOf(image(volumeId)).getFirst().device();
  }

  /** Detaches the device and keeps the file, as a reboot does. */
  final void detach(String volumeId) {
    detach(image(volumeId));
  }

  /** Detaches the loop devices of a file; waits while another process holds one open. */
  final void detach(Path file) {
    try {
      for (LoopDevices.Loop loop : loopsOf(file)) {
        loops.detach(loop.device());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    await().until(() -> loopsOf(file).isEmpty());
  }

  private List<LoopDevices.Loop> loopsOf(Path file) {
    try {
      return loops.of(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
