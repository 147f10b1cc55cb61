package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Reads metrics of driver pods through the API server, because no pod can be reached from here. */
record MetricsReader(KubernetesClient client) {

  /** The API server waits half a minute for a pod that cannot be reached. */
  private static final int SECONDS = 5;

  /**
   * The metrics by namespace and name of the pod. A pod without an answer has none: the user may
   * lack the permission, and the report is complete without them.
   */
  Map<String, NodeMetrics> read(List<Pod> pods) {
    var found = new ConcurrentHashMap<String, NodeMetrics>();
    var executor = Executors.newVirtualThreadPerTaskExecutor();
    try {
      executor.invokeAll(
          pods.stream().map(pod -> Executors.callable(() -> read(pod, found))).toList(),
          SECONDS,
          TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      executor.shutdownNow();
    }
    return Map.copyOf(found);
  }

  private void read(Pod pod, Map<String, NodeMetrics> found) {
    try {
      String text =
          client.raw(
              "/api/v1/namespaces/%s/pods/%s:%d/proxy/metrics"
                  .formatted(
                      pod.getMetadata().getNamespace(),
                      pod.getMetadata().getName(),
                      NodeMetrics.port(pod).orElseThrow()));
      if (text != null) {
        found.put(VolumeReport.name(pod.getMetadata()), NodeMetrics.parse(text));
      }
    } catch (KubernetesClientException _) {
      // the report has less, as documented
    }
  }
}
