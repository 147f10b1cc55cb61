package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.kinds.ResourceChecks;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.TemplateSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RoundTripTest {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  @ParameterizedTest
  @MethodSource("valid")
  void ourTypesKeepWhatTheUserWrote(Sample sample) {
    JsonNode written = sample.resource();

    JsonNode kept = throughOurTypes(written);

    assertThat(normalized(kept.path("spec"))).isEqualTo(normalized(specOf(written)));
    assertThat(kept.path("metadata")).isEqualTo(written.path("metadata"));
  }

  @Test
  void ourTypesKeepWhatKubernetesAddedOrWillAdd() {
    JsonNode written = exotic();

    JsonNode kept = throughOurTypes(written);

    assertThat(kept.path("spec")).isEqualTo(written.path("spec"));
    assertThat(kept.path("metadata")).isEqualTo(written.path("metadata"));
  }

  @Test
  void aPodTemplateKeepsEveryFieldOnItsWayIntoAWorkload() {
    JsonNode written = exotic().at("/spec/driverPerNodeTemplate");
    TemplateSettings settings =
        TemplateSettings.of(YAML.convertValue(exotic(), CSIDriverDeployment.class));

    PodTemplateSpec template = settings.nodeTemplate();

    assertThat(normalized(YAML.unmarshal(YAML.asJson(template), JsonNode.class)))
        .isEqualTo(normalized(written));
  }

  /** Quantities may be numbers in the user's text; they are always texts in our objects. */
  private static JsonNode normalized(JsonNode node) {
    for (String field : List.of("limits", "requests")) {
      for (JsonNode quantities : node.findValues(field)) {
        quantities
            .properties()
            .forEach(
                entry -> ((ObjectNode) quantities).put(entry.getKey(), entry.getValue().asText()));
      }
    }
    return node;
  }

  private static JsonNode throughOurTypes(JsonNode written) {
    Object typed = YAML.convertValue(written, ResourceChecks.kind(written).orElseThrow());
    return YAML.unmarshal(YAML.asJson(typed), JsonNode.class);
  }

  private static JsonNode specOf(JsonNode resource) {
    return resource.has("spec") ? resource.path("spec") : YAML.unmarshal("{}", JsonNode.class);
  }

  private static JsonNode exotic() {
    try {
      Path file = Path.of("src", "test", "resources", "round-trip", "exotic-templates.yaml");
      return YAML.unmarshal(Files.readString(file), JsonNode.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Stream<Sample> valid() {
    return Sample.valid().stream();
  }
}
