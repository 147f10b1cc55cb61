package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.render.Rendering;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers need must pass: a policy that forgets a port would break probes or the webhook. */
class PodPoliciesTest {

  private static final String PMEM =
      "apiVersion: pmem-csi.intel.com/v1beta1\nkind: PmemCSIDeployment\nmetadata: {name: a}\n";

  @ParameterizedTest
  @ValueSource(
      strings = {"pmem/minimal", "pmem/full", "pmem/openshift", "legacy/full", "legacy/documented"})
  void everyPortOfAPodAndOfItsServicesCanBeReached(String resource) throws Exception {
    List<HasMetadata> objects =
        rendered(Files.readString(Path.of("src/test/resources/resources", resource + ".yaml")));

    assertThat(templates(objects)).isNotEmpty();
    for (PodTemplateSpec template : templates(objects)) {
      Map<String, String> labels = template.getMetadata().getLabels();
      assertThat(allowed(objects, labels))
          .as(labels.toString())
          .containsAll(containerPorts(template))
          .containsAll(servicePorts(objects, labels));
    }
  }

  /** Nothing listens there, and a rule without ports would allow everything. */
  @Test
  void podsThatListenOnNoPortCannotBeReached() {
    List<NetworkPolicy> policies = policies(rendered(PMEM)).toList();

    assertThat(policies)
        .extracting(policy -> policy.getMetadata().getName())
        .containsExactly("a-node", "a-node-setup");
    assertThat(policies.getLast().getSpec().getIngress()).isEmpty();
    assertThat(policies)
        .allSatisfy(
            policy -> assertThat(policy.getSpec().getPolicyTypes()).containsExactly("Ingress"));
  }

  @Test
  void userCanDoWithout() {
    assertThat(policies(rendered(PMEM + "spec: {networkPolicies: false}"))).isEmpty();
  }

  private static List<HasMetadata> rendered(String yaml) {
    var rendering = new Rendering();
    return rendering.objects(
        rendering.read(yaml), ClusterFacts.assumed(KubernetesVersion.NEWEST_KNOWN, "ns", "image"));
  }

  private static List<PodTemplateSpec> templates(List<HasMetadata> objects) {
    return objects.stream()
        .flatMap(
            object ->
                switch (object) {
                  case DaemonSet workload -> Stream.of(workload.getSpec().getTemplate());
                  case Deployment workload -> Stream.of(workload.getSpec().getTemplate());
                  case StatefulSet workload -> Stream.of(workload.getSpec().getTemplate());
                  default -> Stream.empty();
                })
        .toList();
  }

  private static Stream<NetworkPolicy> policies(List<HasMetadata> objects) {
    return objects.stream().filter(NetworkPolicy.class::isInstance).map(NetworkPolicy.class::cast);
  }

  private static List<Integer> allowed(List<HasMetadata> objects, Map<String, String> pod) {
    List<NetworkPolicy> selecting =
        policies(objects)
            .filter(
                policy ->
                    pod.entrySet()
                        .containsAll(policy.getSpec().getPodSelector().getMatchLabels().entrySet()))
            .toList();
    assertThat(selecting).hasSize(1);
    return selecting.getFirst().getSpec().getIngress().stream()
        .flatMap(rule -> rule.getPorts().stream())
        .map(port -> port.getPort().getIntVal())
        .toList();
  }

  private static List<Integer> containerPorts(PodTemplateSpec template) {
    return template.getSpec().getContainers().stream()
        .flatMap(container -> container.getPorts().stream())
        .map(ContainerPort::getContainerPort)
        .toList();
  }

  private static List<Integer> servicePorts(List<HasMetadata> objects, Map<String, String> pod) {
    return objects.stream()
        .filter(Service.class::isInstance)
        .map(object -> ((Service) object).getSpec())
        .filter(service -> pod.entrySet().containsAll(service.getSelector().entrySet()))
        .flatMap(service -> service.getPorts().stream())
        .map(ServicePort::getTargetPort)
        .map(IntOrString::getIntVal)
        .toList();
  }
}
