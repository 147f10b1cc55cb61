package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.kinds.ResourceChecks;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "pmem-csi.intel.com/v1beta1 | PmemCSIDeployment",
        "pmem-csi.intel.com/v1alpha1 | Deployment",
        "csidriver.storage.openshift.io/v1alpha1 | CSIDriverDeployment",
      })
  void aResourceWithoutMetadataHasNoName(String apiVersion, String kind) {
    JsonNode resource =
        new KubernetesSerialization()
            .unmarshal(
                "apiVersion: %s\nkind: %s\nmetadata:\n".formatted(apiVersion, kind),
                JsonNode.class);

    assertThat(ResourceChecks.check(resource))
        .contains(new Violation("metadata.name", "", "is missing: set it"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "metadata: {name: a, labels: 5} | metadata.labels: has the wrong type: write a map of"
            + " fields",
        "metadata: {name: a, creationTimestamp: [1]} | metadata.creationTimestamp: has the wrong"
            + " type: write a text",
        "metadata: {name: a}\\nspec: {nodeDriverResources: {claims: 7}} |"
            + " spec.nodeDriverResources.claims: has the wrong type: write a list",
      })
  void aWrongTypeOfWhatOnlyKubernetesKnowsIsNamedInWords(String yaml, String message) {
    ObjectNode resource =
        new KubernetesSerialization().unmarshal(yaml.replace("\\n", "\n"), ObjectNode.class);
    resource.put("apiVersion", "pmem-csi.intel.com/v1beta1").put("kind", "PmemCSIDeployment");

    assertThat(ResourceChecks.check(resource))
        .extracting(Violation::message)
        .containsExactly(message);
  }

  @Test
  void aResourceOfAnotherKindIsNotSupported() {
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
