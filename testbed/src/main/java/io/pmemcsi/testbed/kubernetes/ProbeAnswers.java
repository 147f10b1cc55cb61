package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.util.HashSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Answers the probes of pods on hollow nodes: kubelet sends them for real, but no container is
 * there to answer.
 */
final class ProbeAnswers implements ResourceEventHandler<Pod>, AutoCloseable {

  private final NodeSandbox sandbox;
  private final Predicate<String> selected;
  private final Set<Integer> answered = new HashSet<>();
  private final SharedIndexInformer<Pod> pods;

  private ProbeAnswers(NodeSandbox sandbox, Predicate<String> selected, KubernetesClient client) {
    this.sandbox = sandbox;
    this.selected = selected;
    this.pods = client.pods().inAnyNamespace().runnableInformer(0).addEventHandler(this);
  }

  /**
   * Starts to answer.
   *
   * @param selected selects by name the nodes in the sandbox
   */
  static ProbeAnswers start(
      NodeSandbox sandbox, Predicate<String> selected, KubernetesClient client) {
    ProbeAnswers answers = new ProbeAnswers(sandbox, selected, client);
    answers.pods.run();
    return answers;
  }

  @Override
  public void onAdd(Pod pod) {
    String node = pod.getSpec().getNodeName();
    if (node != null && selected.test(node)) {
      pod.getSpec().getContainers().forEach(this::answer);
    }
  }

  @Override
  public void onUpdate(Pod before, Pod pod) {
    onAdd(pod);
  }

  @Override
  public void onDelete(Pod pod, boolean stateUnknown) {
    // other pods may use the same port
  }

  @Override
  public void close() {
    pods.close();
  }

  private void answer(Container container) {
    Stream.of(
            container.getStartupProbe(),
            container.getReadinessProbe(),
            container.getLivenessProbe())
        .filter(Objects::nonNull)
        .forEach(
            probe ->
                port(container, probe)
                    .filter(answered::add)
                    .ifPresent(port -> sandbox.answer(port, isTls(probe))));
  }

  private static Optional<Integer> port(Container container, Probe probe) {
    if (probe.getHttpGet() != null) {
      return number(container, probe.getHttpGet().getPort());
    }
    if (probe.getTcpSocket() != null) {
      return number(container, probe.getTcpSocket().getPort());
    }
    return Optional.empty();
  }

  private static Optional<Integer> number(Container container, IntOrString port) {
    if (port.getIntVal() != null) {
      return Optional.of(port.getIntVal());
    }
    return container.getPorts().stream()
        .filter(candidate -> Objects.equals(candidate.getName(), port.getStrVal()))
        .map(ContainerPort::getContainerPort)
        .findFirst();
  }

  private static boolean isTls(Probe probe) {
    return probe.getHttpGet() != null && "HTTPS".equals(probe.getHttpGet().getScheme());
  }
}
