package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.driver.volume.operations.VolumeLocks;
import io.pmemcsi.driver.volume.store.Ledger;
import java.nio.file.Path;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the node every minute: others may take or free memory behind the driver's back, and what
 * the audit at the start has found may be resolved since, or be joined by more.
 */
public final class PeriodicAudit implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PeriodicAudit.class);
  private static final Duration EVERY = Duration.ofMinutes(1);

  private final Path statePath;
  private final Ledger ledger;
  private final Devices devices;
  private final VolumeLocks calls;
  private final DriverMetrics metrics;
  private final AuditTrail trail;
  private final Thread thread = Thread.ofVirtual().name("watch").unstarted(this::run);

  public PeriodicAudit(
      Path statePath,
      Ledger ledger,
      Devices devices,
      VolumeLocks calls,
      DriverMetrics metrics,
      AuditReport start) {
    this.statePath = statePath;
    this.ledger = ledger;
    this.devices = devices;
    this.calls = calls;
    this.metrics = metrics;
    this.trail = new AuditTrail(start);
  }

  public void start() {
    thread.start();
  }

  /** One look. */
  public synchronized void look() {
    try {
      AuditReport seen = Audit.look(ledger, devices, NodeState.read(statePath));
      // erasing a large volume takes longer than two looks: it is under way, not interrupted
      AuditTrail.Confirmed now = trail.next(seen.without(calls::isHeld));
      now.fresh().forEach(PeriodicAudit::tell);
      metrics.audited(now.report());
    } catch (RuntimeException e) {
      LOG.atWarn().addKeyValue("error", e.getMessage()).log("Ledger and node are not compared.");
    }
    devices.measure();
  }

  /** For the administrator. */
  public static void tell(AuditReport.Finding finding) {
    LOG.atWarn()
        .addKeyValue("kind", finding.kind().text())
        .addKeyValue("volume", finding.volume())
        .addKeyValue("what", finding.text())
        .addKeyValue("repaired", finding.repaired())
        .log("Ledger and node disagree.");
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(EVERY);
        look();
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
