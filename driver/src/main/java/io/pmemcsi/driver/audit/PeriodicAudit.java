package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.health.HealthProbe;
import io.pmemcsi.driver.volume.store.Ledger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Audits the node every minute: other programs may use or free memory, and what the audit at the
 * start has found may be resolved since, or be joined by more.
 */
public final class PeriodicAudit implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeriodicAudit.class);
  private static final Duration PERIOD = Duration.ofMinutes(1);

  private final Path stateDirectory;
  private final Ledger ledger;
  private final Devices devices;
  private final HealthProbe health;
  private final Predicate<VolumeId> inFlight;
  private final LongConsumer cleanUp;
  private final Consumer<AuditReport> listener;
  private final AuditTrail trail;
  private final Thread thread = Thread.ofVirtual().name("audit").unstarted(this::run);

  /**
   * Prepares it.
   *
   * @param inFlight whether a call for a volume is in flight
   * @param cleanUp removes what can be removed without a caller at this {@link System#nanoTime}
   * @param listener gets each confirmed report
   * @param start what was found at the start of the driver
   */
  public PeriodicAudit(
      Path stateDirectory,
      Ledger ledger,
      Devices devices,
      HealthProbe health,
      Predicate<VolumeId> inFlight,
      LongConsumer cleanUp,
      Consumer<AuditReport> listener,
      AuditReport start) {
    this.stateDirectory = stateDirectory;
    this.ledger = ledger;
    this.devices = devices;
    this.health = health;
    this.inFlight = inFlight;
    this.cleanUp = cleanUp;
    this.listener = listener;
    this.trail = new AuditTrail(start);
  }

  public void start() {
    thread.start();
  }

  /**
   * Audits once.
   *
   * @param now the time, as {@link System#nanoTime} tells it
   */
  public synchronized void runAt(long now) {
    try {
      cleanUp.accept(now);
      AuditReport report = Audit.compare(ledger, devices, NodeState.read(stateDirectory), health);
      // erasing a large volume takes longer than two audits: it is in flight, not interrupted
      AuditTrail.Confirmed confirmed = trail.next(report.without(inFlight));
      confirmed.added().forEach(PeriodicAudit::log);
      listener.accept(confirmed.report());
    } catch (RuntimeException e) {
      LOG.atWarn().addKeyValue("error", e.getMessage()).log("Ledger and node are not compared.");
    }
    try {
      devices.current().takeNewMemory();
    } catch (RuntimeException e) {
      LOG.atWarn()
          .addKeyValue("error", e.getMessage())
          .log("New memory is not taken into use, trying again later.");
    }
    devices.measure();
  }

  /** Logs a finding for the administrator. */
  public static void log(AuditReport.Finding finding) {
    LOG.atWarn()
        .addKeyValue("kind", finding.kind().text())
        .addKeyValue(
            finding.kind() == AuditReport.Kind.LEFTOVER_FILE ? "file" : "volume", finding.subject())
        .addKeyValue("what", finding.text())
        .addKeyValue("repaired", finding.repaired())
        .log("The audit found a problem.");
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(PERIOD);
        runAt(System.nanoTime());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
