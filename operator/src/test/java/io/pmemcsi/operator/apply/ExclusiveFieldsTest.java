package io.pmemcsi.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExclusiveFieldsTest {

  private final KubernetesSerialization serialization = new KubernetesSerialization();

  @Test
  void whatOthersAddToClassesAndDriversIsFound() {
    assertThat(
            surplus(
                "{kind: StorageClass, provisioner: p}",
                "{kind: StorageClass, provisioner: p, mountOptions: [a], allowVolumeExpansion:"
                    + " true, allowedTopologies: [{}], metadata: {labels: {mine: kept}}}"))
        .containsExactly("/allowVolumeExpansion", "/allowedTopologies", "/mountOptions");
    assertThat(
            surplus(
                "{kind: CSIDriver, spec: {attachRequired: true}}",
                "{kind: CSIDriver, spec: {attachRequired: true, requiresRepublish: true,"
                    + " tokenRequests: [{audience: a}], fsGroupPolicy: None}}"))
        .containsExactly("/spec/fsGroupPolicy", "/spec/requiresRepublish", "/spec/tokenRequests");
  }

  @Test
  void whatOthersAddToPodsIsFoundAlsoBehindContainersOfTheirs() {
    assertThat(
            surplus(
                "{kind: DaemonSet, spec: {template: {spec: {containers: [{name: c}]}}}}",
                "{kind: DaemonSet, spec: {minReadySeconds: 1, template: {spec: {hostNetwork: true,"
                    + " containers: [{name: theirs, args: [a]}, {name: c, args: [a]}]}}}}"))
        .containsExactly(
            "/spec/minReadySeconds",
            "/spec/template/spec/hostNetwork",
            "/spec/template/spec/containers/1/args");
  }

  @Test
  void hostPortsAreFoundUnlessThePodIsOnTheNetworkOfTheHost() {
    String ports = "containers: [{name: c, ports: [{containerPort: 1}]}]";
    String filled = "containers: [{name: c, ports: [{containerPort: 1, hostPort: 1}]}]";

    assertThat(surplus(pods(ports), pods(filled)))
        .containsExactly("/spec/template/spec/containers/0/ports/0/hostPort");
    assertThat(surplus(pods("hostNetwork: true, " + ports), pods("hostNetwork: true, " + filled)))
        .isEmpty();
  }

  @Test
  void hostPortsAreComparedForEachProtocol() {
    String wanted =
        "containers: [{name: c, ports: [{containerPort: 53, protocol: UDP},"
            + " {containerPort: 53, protocol: TCP, hostPort: 53}]}]";

    assertThat(surplus(pods(wanted), pods(wanted))).isEmpty();
    assertThat(
            surplus(
                pods(wanted),
                pods(
                    "containers: [{name: c, ports: [{containerPort: 53, hostPort: 53},"
                        + " {containerPort: 53, protocol: UDP, hostPort: 53}]}]")))
        .containsExactly("/spec/template/spec/containers/0/ports/1/hostPort");
  }

  private static String pods(String spec) {
    return "{kind: DaemonSet, spec: {template: {spec: {%s}}}}".formatted(spec);
  }

  @Test
  void whatServersFillInAndWhatIsWantedIsNot() {
    assertThat(
            surplus(
                "{kind: CSIDriver, spec: {tokenRequests: [{audience: a}]}}",
                "{kind: CSIDriver, spec: {tokenRequests: [{audience: a}], requiresRepublish: false,"
                    + " storageCapacity: false, fsGroupPolicy: ReadWriteOnceWithFSType}}"))
        .isEmpty();
    assertThat(surplus("{kind: Secret}", "{kind: Secret, mountOptions: [a]}")).isEmpty();
  }

  @Test
  void aDryRunShowsTheObjectWithoutThem() {
    var wanted = deployment("spec: {template: {spec: {containers: [{name: c}]}}}");
    var actual =
        deployment(
            "spec: {paused: true, template: {spec: {nodeSelector: {a/b: c}, containers:"
                + " [{name: c, args: [a], image: i}]}}}");

    assertThat(ForeignFields.takenAway(actual, wanted, serialization))
        .isEqualTo(
            deployment(
                "spec: {template: {spec: {nodeSelector: {}, containers: [{name: c, image: i}]}}}"));
  }

  private Deployment deployment(String yaml) {
    return serialization.unmarshal(yaml, Deployment.class);
  }

  private List<String> surplus(String wanted, String actual) {
    return ExclusiveFields.surplus(map(wanted), map(actual));
  }

  /** What begins with a brace would be taken for JSON. */
  private Map<?, ?> map(String yaml) {
    return serialization.unmarshal("---\n" + yaml, Map.class);
  }
}
