package io.pmemcsi.app.demo;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import java.time.Duration;

/** Prints a row whenever the status of a resource moves. */
final class StatusTable implements Watcher<PmemCSIDeployment> {

  private final Narrator.Table table;
  private final long start = System.nanoTime();
  private String last = "-";

  private StatusTable(Narrator narrator) {
    this.table = narrator.table(new String[] {"AFTER", "PHASE", "REASON"}, 8, 12);
  }

  static Watch watch(KubernetesClient client, String name, Narrator narrator) {
    return client
        .resources(PmemCSIDeployment.class)
        .withName(name)
        .watch(new StatusTable(narrator));
  }

  @Override
  public void eventReceived(Action action, PmemCSIDeployment resource) {
    if (action != Action.ADDED && action != Action.MODIFIED) {
      return;
    }
    PmemCSIDeploymentStatus status = resource.getStatus();
    String phase = status == null || status.phaseOrNew().isEmpty() ? "(new)" : status.phaseOrNew();
    String reason = status == null || status.reason() == null ? "" : status.reason();
    if (!last.equals(phase + reason)) {
      last = phase + reason;
      table.row(Narrator.seconds(Duration.ofNanos(System.nanoTime() - start)), phase, reason);
    }
  }

  @Override
  public void onClose(WatcherException cause) {
    // nothing moves any more
  }
}
