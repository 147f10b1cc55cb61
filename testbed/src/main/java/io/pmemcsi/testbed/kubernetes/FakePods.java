package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Instant;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Plays the kubelet for nodes that have none: says that pods run, and lets deleted ones go. */
final class FakePods implements ResourceEventHandler<Pod>, AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FakePods.class);

  private final KubernetesClient client;
  private final Predicate<String> selected;
  private final SharedIndexInformer<Pod> pods;

  private FakePods(KubernetesClient client, Predicate<String> selected) {
    this.client = client;
    this.selected = selected;
    this.pods = client.pods().inAnyNamespace().runnableInformer(0).addEventHandler(this);
  }

  static FakePods start(KubernetesClient client, Predicate<String> selected) {
    FakePods started = new FakePods(client, selected);
    started.pods.run();
    return started;
  }

  @Override
  public void onAdd(Pod pod) {
    String node = pod.getSpec().getNodeName();
    if (node == null || !selected.test(node)) {
      return;
    }
    try {
      if (pod.getMetadata().getDeletionTimestamp() != null) {
        client.resource(pod).withGracePeriod(0).delete();
      } else if ("Pending".equals(pod.getStatus().getPhase())) {
        client.resource(pod).editStatus(FakePods::running);
      }
    } catch (KubernetesClientException e) {
      // deleted or changed by another client: then another event follows
      LOG.atDebug().addKeyValue("pod", pod.getMetadata().getName()).setCause(e).log("Pod not kept");
    }
  }

  @Override
  public void onUpdate(Pod before, Pod pod) {
    onAdd(pod);
  }

  @Override
  public void onDelete(Pod pod, boolean stateUnknown) {
    // nothing to tidy up
  }

  @Override
  public void close() {
    pods.close();
  }

  private static Pod running(Pod pod) {
    String now = Instant.now().toString();
    List<PodCondition> conditions =
        Stream.of("PodScheduled", "Initialized", "ContainersReady", "Ready")
            .map(
                type ->
                    new PodConditionBuilder()
                        .withType(type)
                        .withStatus("True")
                        .withLastTransitionTime(now)
                        .build())
            .toList();
    return new PodBuilder(pod)
        .editStatus()
        .withPhase("Running")
        .withStartTime(now)
        .withConditions(conditions)
        .withContainerStatuses(
            pod.getSpec().getContainers().stream().map(c -> running(c, now)).toList())
        .endStatus()
        .build();
  }

  private static ContainerStatus running(Container container, String since) {
    return new ContainerStatusBuilder()
        .withName(container.getName())
        .withImage(container.getImage())
        .withImageID("fake://" + container.getImage())
        .withReady(true)
        .withStarted(true)
        .withRestartCount(0)
        .withNewState()
        .withNewRunning(since)
        .endState()
        .build();
  }
}
