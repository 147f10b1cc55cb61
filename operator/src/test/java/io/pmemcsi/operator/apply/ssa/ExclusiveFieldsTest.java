package io.pmemcsi.operator.apply.ssa;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ExclusiveFieldsTest {

  private final KubernetesSerialization serialization = new KubernetesSerialization();

  @Test
  void fieldsThatOtherManagersAddToStorageClassesAndDriversAreForeign() {
    assertThat(
            foreign(
                "{kind: StorageClass, provisioner: p}",
                "{kind: StorageClass, provisioner: p, mountOptions: [a], allowVolumeExpansion:"
                    + " true, allowedTopologies: [{}], metadata: {labels: {mine: kept}}}"))
        .containsExactly("/allowVolumeExpansion", "/allowedTopologies", "/mountOptions");
    assertThat(
            foreign(
                "{kind: CSIDriver, spec: {attachRequired: true}}",
                "{kind: CSIDriver, spec: {attachRequired: true, requiresRepublish: true,"
                    + " tokenRequests: [{audience: a}], fsGroupPolicy: None}}"))
        .containsExactly("/spec/fsGroupPolicy", "/spec/requiresRepublish", "/spec/tokenRequests");
  }

  @Test
  void fieldsThatOtherManagersAddToPodsAreForeignAlsoAfterAnInjectedContainer() {
    assertThat(
            foreign(
                "{kind: DaemonSet, spec: {template: {spec: {containers: [{name: c}]}}}}",
                "{kind: DaemonSet, spec: {minReadySeconds: 1, template: {spec: {hostNetwork: true,"
                    + " containers: [{name: theirs, args: [a]}, {name: c, args: [a]}]}}}}"))
        .containsExactly(
            "/spec/minReadySeconds",
            "/spec/template/spec/hostNetwork",
            "/spec/template/spec/containers/1/args");
  }

  @Test
  void hostPortsAreForeignUnlessThePodUsesHostNetwork() {
    String ports = "containers: [{name: c, ports: [{containerPort: 1}]}]";
    String filled = "containers: [{name: c, ports: [{containerPort: 1, hostPort: 1}]}]";

    assertThat(foreign(pods(ports), pods(filled)))
        .containsExactly("/spec/template/spec/containers/0/ports/0/hostPort");
    assertThat(foreign(pods("hostNetwork: true, " + ports), pods("hostNetwork: true, " + filled)))
        .isEmpty();
  }

  @Test
  void hostPortsAreComparedForEachProtocol() {
    String desired =
        "containers: [{name: c, ports: [{containerPort: 53, protocol: UDP},"
            + " {containerPort: 53, protocol: TCP, hostPort: 53}]}]";

    assertThat(foreign(pods(desired), pods(desired))).isEmpty();
    assertThat(
            foreign(
                pods(desired),
                pods(
                    "containers: [{name: c, ports: [{containerPort: 53, hostPort: 53},"
                        + " {containerPort: 53, protocol: UDP, hostPort: 53}]}]")))
        .containsExactly("/spec/template/spec/containers/0/ports/1/hostPort");
  }

  private static String pods(String spec) {
    return "{kind: DaemonSet, spec: {template: {spec: {%s}}}}".formatted(spec);
  }

  @Test
  void defaultsAndDesiredFieldsAreNotForeign() {
    assertThat(
            foreign(
                "{kind: CSIDriver, spec: {tokenRequests: [{audience: a}]}}",
                "{kind: CSIDriver, spec: {tokenRequests: [{audience: a}], requiresRepublish: false,"
                    + " storageCapacity: false, fsGroupPolicy: ReadWriteOnceWithFSType}}"))
        .isEmpty();
    assertThat(foreign("{kind: Secret}", "{kind: Secret, mountOptions: [a]}")).isEmpty();
  }

  @Test
  void objectIsShownWithoutForeignFields() {
    var desired = deployment("spec: {template: {spec: {containers: [{name: c}]}}}");
    var actual =
        deployment(
            "spec: {paused: true, template: {spec: {nodeSelector: {a/b: c}, containers:"
                + " [{name: c, args: [a], image: i}]}}}");

    assertThat(ForeignFields.removedFrom(actual, desired, serialization))
        .isEqualTo(
            deployment(
                "spec: {template: {spec: {nodeSelector: {}, containers: [{name: c, image: i}]}}}"));
  }

  private Deployment deployment(String yaml) {
    return serialization.unmarshal(yaml, Deployment.class);
  }

  private List<String> foreign(String desired, String actual) {
    return ExclusiveFields.foreign(map(desired), map(actual));
  }

  /** Without the document marker a leading brace would be parsed as JSON. */
  private Map<?, ?> map(String yaml) {
    return serialization.unmarshal("---\n" + yaml, Map.class);
  }
}
