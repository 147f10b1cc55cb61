package io.pmemcsi.controller.cluster;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.volume.NumaNode;
import io.pmemcsi.controller.volume.PodVolumes;
import io.pmemcsi.controller.volume.VolumeClass;
import io.pmemcsi.controller.watch.LeanWatch;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Pods that wait for a node or for their volumes. All others are of no interest, and leaving the
 * watch is how a pod says that its volumes exist, or that it does not need them any more.
 */
public final class PendingPods implements AutoCloseable {

  /** Gets what the pods show. */
  public interface Listener {

    /** An inline volume of the driver is going to be created on the pod's node. */
    void placed(String pod, PodVolumes.Inline volume, String node);

    /** The pod's inline volumes exist. */
    void started(String pod, List<String> volumes);

    /** The pod was deleted before its volumes were needed. */
    void deleted(String pod, List<String> volumes);
  }

  private final Map<String, Known> known = new ConcurrentHashMap<>();
  private final String driver;
  private final Listener listener;
  private final LeanWatch watch;

  private record Known(String uid, List<String> volumes, boolean placed) {}

  private PendingPods(KubernetesClient client, DriverName driver, Listener listener) {
    this.driver = driver.value();
    this.listener = listener;
    this.watch =
        LeanWatch.start(
            "pending pods",
            client,
            Pod.class,
            client.pods().inAnyNamespace().withField("status.phase", "Pending"),
            this::changed,
            this::left);
  }

  public static PendingPods start(KubernetesClient client, DriverName driver, Listener listener) {
    return new PendingPods(client, driver, listener);
  }

  public Optional<String> notReady() {
    return watch.hasSynced() ? Optional.empty() : Optional.of("pods are not listed yet");
  }

  @Override
  public void close() {
    watch.close();
  }

  private void changed(Pod pod) {
    List<Volume> volumes = inlineVolumes(pod);
    String uid = pod.getMetadata().getUid();
    String node = pod.getSpec().getNodeName();
    boolean placed = node != null && !node.isEmpty();
    known.put(key(pod), new Known(uid, volumes.stream().map(Volume::getName).toList(), placed));
    if (placed && !hasContainer(pod)) {
      volumes.forEach(volume -> listener.placed(uid, inline(volume), String.valueOf(node)));
    } else if (placed) {
      listener.started(uid, volumes.stream().map(Volume::getName).toList());
    }
  }

  private void left(Pod pod) {
    Known before = known.remove(key(pod));
    if (before == null) {
      return;
    }
    if (before.placed()) {
      listener.started(before.uid(), before.volumes());
    } else {
      listener.deleted(before.uid(), before.volumes());
    }
  }

  private List<Volume> inlineVolumes(Pod pod) {
    List<Volume> volumes = pod.getSpec().getVolumes();
    return volumes == null
        ? List.of()
        : volumes.stream()
            .filter(volume -> volume.getCsi() != null && driver.equals(volume.getCsi().getDriver()))
            .toList();
  }

  private PodVolumes.Inline inline(Volume volume) {
    Map<String, String> attributes = volume.getCsi().getVolumeAttributes();
    Map<String, String> known = attributes == null ? Map.of() : attributes;
    return new PodVolumes.Inline(
        volume.getName(),
        driver,
        known.getOrDefault("size", ""),
        NumaNode.normalize(known.getOrDefault(VolumeClass.NUMA_NODE, "")));
  }

  /** The kubelet starts no container before all volumes are there. */
  private static boolean hasContainer(Pod pod) {
    return pod.getStatus() != null
        && Stream.of(
                pod.getStatus().getInitContainerStatuses(), pod.getStatus().getContainerStatuses())
            .filter(statuses -> statuses != null)
            .flatMap(List::stream)
            .map(ContainerStatus::getState)
            .anyMatch(
                state ->
                    state != null && (state.getRunning() != null || state.getTerminated() != null));
  }

  private static String key(Pod pod) {
    return pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName();
  }
}
