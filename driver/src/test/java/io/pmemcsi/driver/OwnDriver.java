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

/** A driver for each test, which may be stopped, changed behind its back and started again. */
abstract class OwnDriver extends OwnScratch {

  final ProcessRunner runner = new ProcessRunner();
  private final LoopDevices loops = new LoopDevices(new KernelLoops());
  FileModeDriver driver;
  Calls csi;

  @BeforeEach
  void start() {
    driver = FileModeDriver.start(scratch.folder());
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

  /** What the driver has found when it was started. */
  final List<Kind> findings() {
    return driver.driver().startAudit().findings().stream().map(Finding::kind).toList();
  }

  /** The file that stands for the memory of a volume. */
  final Path image(String volumeId) {
    return scratch.state().resolve("devices").resolve(volumeId + ".img");
  }

  final Path device(String volumeId) {
    return loopsOf(image(volumeId)).getFirst().device();
  }

  /** What a reboot does to a device: the file stays. */
  final void detach(String volumeId) {
    detach(image(volumeId));
  }

  /** Removes the loop devices of a file, also where somebody keeps one alive for a moment. */
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
