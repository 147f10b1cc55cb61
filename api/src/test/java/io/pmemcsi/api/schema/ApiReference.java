package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.model.annotation.ShortNames;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Writes the reference of the resources, docs/api.md, out of their schemas. */
final class ApiReference {

  private static final String INTRODUCTION =
      """
      <!-- Generated from the Java types in api/: change those, then run 'make generate'. -->
      # Custom resources

      Three kinds of resources, one operator. This is every field they have. Fields that are not
      required may be left out; the defaults are then chosen by the operator and not written into the
      resource. Samples are in [deploy/samples](../deploy/samples), the definitions for the cluster in
      [deploy/crd](../deploy/crd).

      What the schema can say is refused by the API server at `kubectl apply`. Rules that go beyond it
      are listed with each kind: servers from Kubernetes 1.25 on refuse what breaks them if they
      have the definitions in [deploy/crd/with-cel](../deploy/crd/with-cel); in every case the operator
      checks them too and reports them in the status, and `bin/pmem-csi render` reports them for a file.

      """;

  private final StringBuilder text = new StringBuilder(INTRODUCTION);

  /** The file's content as it should be. */
  static String text() {
    ApiReference reference = new ApiReference();
    for (KindDetails details : KindDetails.values()) {
      reference.add(details);
    }
    return reference.text.toString().stripTrailing() + "\n";
  }

  private void add(KindDetails details) {
    JsonNode schema = new CRDSource(details, true).schema();
    boolean namespaced = Namespaced.class.isAssignableFrom(details.kind());
    text.append("## ").append(HasMetadata.getKind(details.kind())).append("\n\n");
    text.append(details.description()).append("\n\n");
    text.append("`apiVersion: ").append(HasMetadata.getApiVersion(details.kind()));
    text.append("`, ").append(namespaced ? "namespaced" : "for the whole cluster");
    text.append(", name of at most ").append(details.maxNameLength()).append(" characters. ");
    text.append(shortName(details.kind()));
    text.append("`kubectl get` shows ");
    text.append(
        String.join(
            ", ",
            details.columns().stream()
                .filter(one -> one.priority() == 0)
                .map(KindDetails.Column::name)
                .toList()));
    text.append(wide(details)).append(".\n\n");
    for (String part : List.of("spec", "status")) {
      fields(part, schema.path("properties").path(part));
    }
    rules(schema);
  }

  private static String wide(KindDetails details) {
    List<String> names =
        details.columns().stream()
            .filter(one -> one.priority() > 0)
            .map(KindDetails.Column::name)
            .toList();
    return names.isEmpty() ? "" : ", with `-o wide` also " + String.join(", ", names);
  }

  private static String shortName(Class<?> kind) {
    ShortNames names = kind.getAnnotation(ShortNames.class);
    return names == null ? "" : "Short name: `%s`. ".formatted(String.join("`, `", names.value()));
  }

  /** A table of fields, followed by one for each field that has fields itself. */
  private void fields(String path, JsonNode schema) {
    text.append("### `").append(path).append("`\n\n");
    text.append("| field | type | meaning |\n|---|---|---|\n");
    Set<String> required = new LinkedHashSet<>();
    schema.path("required").forEach(name -> required.add(name.asText()));
    List<Runnable> inner = new ArrayList<>();
    schema
        .path("properties")
        .forEachEntry(
            (name, field) -> {
              text.append("| `").append(name).append('`');
              text.append(required.contains(name) ? " (required)" : "");
              text.append(" | ").append(type(field)).append(" | ");
              text.append(field.path("description").asText().replace("|", "\\|"));
              text.append(limits(field)).append(" |\n");
              String deeper = path + "." + name;
              if (isOurs(field)) {
                inner.add(() -> fields(deeper, field));
              } else if (isOurs(field.path("items"))) {
                inner.add(() -> fields(deeper + "[]", field.path("items")));
              }
            });
    text.append('\n');
    inner.forEach(Runnable::run);
  }

  private void rules(JsonNode schema) {
    text.append("### Rules\n\nRefused are resources where:\n\n");
    schema
        .findParents("x-kubernetes-validations")
        .forEach(
            parent ->
                parent
                    .path("x-kubernetes-validations")
                    .forEach(
                        rule ->
                            text.append("- ").append(rule.path("message").asText()).append(".\n")));
    text.append('\n');
  }

  /** Types of Kubernetes are known to the reader; those of this API have a table of their own. */
  private static boolean isOurs(JsonNode schema) {
    return schema.has("properties")
        && !schema.path("x-kubernetes-preserve-unknown-fields").asBoolean();
  }

  private static String type(JsonNode field) {
    if (field.path("x-kubernetes-int-or-string").asBoolean()) {
      return "number or percentage";
    }
    if (field.path("properties").has("limits")) {
      return "compute resources";
    }
    if (field.at("/properties/spec/properties").has("containers")) {
      return "pod template";
    }
    return switch (field.path("type").asText()) {
      case "array" -> "list of " + type(field.path("items"));
      case "object" -> field.has("additionalProperties") ? "map of texts" : "object";
      case "string" ->
          switch (field.path("format").asText()) {
            case "date-time" -> "time";
            case "byte" -> "text in base64";
            default -> "text";
          };
      default -> field.path("type").asText();
    };
  }

  private static String limits(JsonNode field) {
    if (field.has("enum")) {
      List<String> choices = new ArrayList<>();
      field.path("enum").forEach(choice -> choices.add("`" + choice.asText() + "`"));
      choices.remove("``");
      return " One of " + String.join(", ", choices) + ".";
    }
    if (field.has("minimum") && field.has("maximum")) {
      return " From %s to %s."
          .formatted(field.path("minimum").asText(), field.path("maximum").asText());
    }
    return "";
  }
}
