package io.pmemcsi.operator.pmem;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;

/** Tells what was found: in the status, by events and to the metrics. */
final class StatusWriter {

  private final EventWriter events;
  private final OutcomeListener listener;
  private final Clock clock;

  StatusWriter(EventWriter events, OutcomeListener listener, Clock clock) {
    this.events = events;
    this.listener = listener;
    this.clock = clock;
  }

  /** Greets a resource that nobody has looked at yet. */
  void greet(PmemCSIDeployment resource) {
    if (PmemAnnouncements.isNew(resource.getStatus())) {
      events.write(resource, PmemAnnouncements.NEW, "");
    }
  }

  /** Writes events first: repeated after a crash they meet themselves, a status would hide them. */
  void write(PmemCSIDeployment resource, Findings found, KubernetesClient client) {
    PmemCSIDeployment current = resource;
    for (int attempt = 0; ; attempt++) {
      PmemCSIDeploymentStatus previous = current.getStatus();
      PmemCSIDeploymentStatus next = PmemStatus.next(previous, found, clock.instant());
      listener.phase(resource, next.phaseOrNew());
      if (next.equals(previous)) {
        return;
      }
      for (var announcement : PmemAnnouncements.of(previous, next)) {
        events.write(resource, announcement, String.valueOf(previous.lastUpdated()));
      }
      try {
        var copy = client.getKubernetesSerialization().clone(current);
        copy.setStatus(next);
        client.resource(copy).updateStatus();
        return;
      } catch (KubernetesClientException e) {
        if (e.getCode() == HTTP_NOT_FOUND) {
          return;
        }
        if (e.getCode() != HTTP_CONFLICT || attempt > 0) {
          throw e;
        }
        PmemCSIDeployment fresh = client.resource(resource).get();
        if (fresh == null
            || !fresh.getMetadata().getUid().equals(resource.getMetadata().getUid())) {
          return;
        }
        current = fresh;
      }
    }
  }
}
