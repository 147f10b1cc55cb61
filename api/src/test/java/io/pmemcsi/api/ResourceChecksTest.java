package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ResourceChecksTest {

  @ParameterizedTest
  @MethodSource("valid")
  void aGoodResourcePasses(Sample sample) {
    assertThat(ResourceChecks.check(sample.resource())).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("invalid")
  void aBadResourceIsRefusedWithWhatIsWrong(Sample sample) {
    List<Violation> violations = ResourceChecks.check(sample.resource());

    assertThat(violations)
        .extracting(Violation::message)
        .anySatisfy(message -> assertThat(message).contains(sample.check()));
  }

  @Test
  void aMisspeltFieldIsNamedTogetherWithTheRightOne() {
    assertThat(messages("spec: {devicemode: lvm}"))
        .containsExactly("spec.devicemode: is not a field: did you mean deviceMode?");
    assertThat(messages("spec: {nodeSelectors: {}}"))
        .containsExactly("spec.nodeSelectors: is not a field: did you mean nodeSelector?");
    assertThat(messages("spec: {controllerTLS: {rotate: 3}}"))
        .singleElement()
        .asString()
        .startsWith("spec.controllerTLS.rotate: is not a field: remove it; the fields here are ");
    assertThat(messages("specs: {}")).singleElement().asString().contains("did you mean spec?");
  }

  @Test
  void aResourceOfAnotherKindIsNotOurs() {
    JsonNode pod = JsonNodeFactory.instance.objectNode().put("apiVersion", "v1").put("kind", "Pod");

    assertThat(ResourceChecks.kind(pod)).isEmpty();
    assertThatThrownBy(() -> ResourceChecks.check(pod))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("v1 Pod is not one of our kinds");
  }

  private static List<String> messages(String yaml) {
    String head = "apiVersion: pmem-csi.intel.com/v1beta1\nkind: PmemCSIDeployment\n";
    String name = "metadata: {name: x, labels: {a: b}}\n";
    JsonNode resource = new KubernetesSerialization().unmarshal(head + name + yaml, JsonNode.class);
    return ResourceChecks.check(resource).stream().map(Violation::message).toList();
  }

  static Stream<Sample> valid() {
    return Sample.valid().stream();
  }

  static Stream<Sample> invalid() {
    return Sample.invalid().stream();
  }
}
