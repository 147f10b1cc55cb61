package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.fabric8.crdv2.generator.CRDGenerator;
import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.api.yaml.YamlWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Generates the CRD of a kind from its Java types, and adds what the generator cannot know: the
 * order of columns, keys of lists, formats of numbers, limits for names, and the few schemas that
 * stand for types of Kubernetes itself.
 */
final class CRDSource {

  private static final String HEADER =
      "# Generated from the Java types in api/: change those, then run 'make generate'.\n";

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private static final String RULES = "x-kubernetes-validations";

  private final KindDetails details;
  private final boolean withRules;

  /** The CRD for servers that know CEL, or for those before, whose kubectl refuses its rules. */
  CRDSource(KindDetails details, boolean withRules) {
    this.details = details;
    this.withRules = withRules;
  }

  /** The file's content as it should be. */
  String text() {
    return HEADER + YamlWriter.write(tree());
  }

  /** The schema of the kind's only version. */
  JsonNode schema() {
    return tree().at("/spec/versions/0/schema/openAPIV3Schema");
  }

  private ObjectNode tree() {
    ObjectNode crd = generate(details.kind());
    ObjectNode version = (ObjectNode) crd.at("/spec/versions/0");
    ObjectNode schema = (ObjectNode) version.at("/schema/openAPIV3Schema");
    tidy(schema);
    schema.put("description", details.description());
    if (!details.specIsOptional()) {
      schema.putArray("required").add("spec");
    }
    ObjectNode properties = (ObjectNode) schema.get("properties");
    SchemaParts.metadata(properties.putObject("metadata"), details.maxNameLength());
    details.refine(properties);
    describe(properties, "spec", "Desired state of the driver.");
    describe(properties, "status", "What the operator has found out about the driver.");
    if (!withRules) {
      schema.findParents(RULES).forEach(parent -> ((ObjectNode) parent).remove(RULES));
    }
    version.set("additionalPrinterColumns", details.columns(YAML.createArrayNode()));
    return crd;
  }

  private static void describe(ObjectNode properties, String field, String description) {
    ((ObjectNode) properties.get(field)).put("description", description);
  }

  /** One at a time: concurrent generators lose the formats of dates. */
  private static synchronized ObjectNode generate(Class<? extends CustomResource<?, ?>> kind) {
    try {
      Path directory = Files.createTempDirectory("crd");
      try {
        new CRDGenerator()
            .customResourceClasses(List.of(kind))
            .forCRDVersions("v1")
            .inOutputDir(directory.toFile())
            .generate();
        try (Stream<Path> files = Files.list(directory)) {
          return (ObjectNode) YAML.readTree(files.findFirst().orElseThrow().toFile());
        }
      } finally {
        deleteAll(directory);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void deleteAll(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  /** Whole numbers are written as such and get their format, and types of Kubernetes their form. */
  private static void tidy(JsonNode node) {
    if (node instanceof ObjectNode schema) {
      for (String limit : List.of("minimum", "maximum")) {
        if (schema.has(limit)) {
          schema.put(limit, schema.get(limit).asLong());
        }
      }
      if (isType(schema, "integer") && !schema.has("format")) {
        schema.put("format", fitsInt(schema) ? "int32" : "int64");
      }
      if (schema.path("properties").has("limits")) {
        SchemaParts.resources(schema);
      }
      if (schema.path("x-kubernetes-int-or-string").asBoolean() && !schema.has("pattern")) {
        SchemaParts.countOrShare(schema);
      }
    }
    List<JsonNode> children = new ArrayList<>();
    node.forEach(children::add);
    children.stream().filter(child -> !(child instanceof ArrayNode)).forEach(CRDSource::tidy);
  }

  private static boolean isType(ObjectNode schema, String type) {
    return schema.path("type").isTextual() && schema.path("type").asText().equals(type);
  }

  /** Fields of type Long have no limits in our types, or limits beyond those of an int. */
  private static boolean fitsInt(ObjectNode schema) {
    return schema.has("maximum") && schema.path("maximum").asLong() < Integer.MAX_VALUE;
  }
}
