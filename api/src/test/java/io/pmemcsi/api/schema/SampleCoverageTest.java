package io.pmemcsi.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.Sample;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Valid samples must cover each field, because other tests use them to check that no server drops a
 * field.
 */
class SampleCoverageTest {

  @ParameterizedTest
  @EnumSource(KindDetails.class)
  void everyFieldIsInAValidSample(KindDetails details) {
    JsonNode schema = new CRDSource(details, true).schema().at("/properties/spec");
    Set<String> missing = new TreeSet<>();
    collect("spec", schema, missing);
    assertThat(missing).isNotEmpty();

    Sample.valid().stream()
        .map(Sample::resource)
        .filter(resource -> isOf(details, resource))
        .forEach(resource -> remove("spec", resource.path("spec"), schema, missing));

    assertThat(missing).isEmpty();
  }

  private static boolean isOf(KindDetails details, JsonNode resource) {
    return resource.path("apiVersion").asText().equals(HasMetadata.getApiVersion(details.kind()))
        && resource.path("kind").asText().equals(HasMetadata.getKind(details.kind()));
  }

  /** A node without fields in the schema is a leaf. */
  private static void collect(String path, JsonNode schema, Set<String> leaves) {
    if (schema.has("properties")) {
      schema
          .path("properties")
          .forEachEntry((name, field) -> collect(path + "." + name, field, leaves));
    } else if (schema.has("items")) {
      collect(path + "[]", schema.path("items"), leaves);
    } else {
      leaves.add(path);
    }
  }

  private static void remove(String path, JsonNode value, JsonNode schema, Set<String> leaves) {
    if (schema.has("properties")) {
      schema
          .path("properties")
          .forEachEntry(
              (name, field) -> {
                if (value.has(name)) {
                  remove(path + "." + name, value.path(name), field, leaves);
                }
              });
    } else if (schema.has("items")) {
      value.forEach(item -> remove(path + "[]", item, schema.path("items"), leaves));
    } else if (!value.isEmpty() || value.isValueNode()) {
      leaves.remove(path);
    }
  }
}
