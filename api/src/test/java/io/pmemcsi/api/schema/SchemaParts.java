package io.pmemcsi.api.schema;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;

/** Schemas for types of Kubernetes: small, strict where it helps the user, and keeping the rest. */
final class SchemaParts {

  private static final String KEEP = "x-kubernetes-preserve-unknown-fields";
  private static final String LABEL_VALUE = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
  private static final String QUANTITY =
      "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))"
          + "(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";

  /** A generous limit, so that the server can estimate the cost of a rule for labels. */
  private static final int MAX_LABELS = 256;

  private SchemaParts() {}

  /** A schema may restrict the object's name, and nothing else of its metadata. */
  static void metadata(ObjectNode schema, int maxNameLength) {
    schema.put("type", "object");
    ObjectNode name = schema.putObject("properties").putObject("name");
    name.put("type", "string");
    name.put("maxLength", maxNameLength);
  }

  /** Compute resources of a container, with whatever later versions of Kubernetes add. */
  static void resources(ObjectNode schema) {
    ObjectNode properties = schema.putObject("properties");
    quantities(properties.putObject("limits"), "Most that the container may use.");
    quantities(properties.putObject("requests"), "What is set aside for the container.");
    schema.put(KEEP, true);
  }

  private static void quantities(ObjectNode schema, String description) {
    schema.put("type", "object");
    schema.put("description", description);
    ObjectNode quantity = schema.putObject("additionalProperties");
    intOrString(quantity);
    quantity.put("pattern", QUANTITY);
  }

  /** A number of at least one, or a share in percent. */
  static void countOrShare(ObjectNode schema) {
    intOrString(schema);
    schema.put("minimum", 1);
    schema.put("pattern", "^(100|[1-9][0-9]?)%$");
  }

  private static void intOrString(ObjectNode schema) {
    ArrayNode types = schema.putArray("anyOf");
    types.addObject().put("type", "integer");
    types.addObject().put("type", "string");
    schema.put("x-kubernetes-int-or-string", true);
  }

  /** Names and values of labels. */
  static void labels(ObjectNode schema) {
    schema.put("maxProperties", MAX_LABELS);
    ObjectNode value = (ObjectNode) schema.get("additionalProperties");
    value.put("maxLength", 63);
    value.put("pattern", LABEL_VALUE);
  }

  /** A text of which all values are known. */
  static void oneOf(ObjectNode schema, String... values) {
    ArrayNode choices = schema.putArray("enum");
    Arrays.stream(values).forEach(choices::add);
  }

  /** The status of a condition: True, False or Unknown. */
  static void conditionStatus(ObjectNode schema) {
    oneOf(schema, "True", "False", "Unknown");
  }

  /** A list that has at most one entry for each value of a field. */
  static void keyedBy(ObjectNode schema, String key) {
    schema.put("x-kubernetes-list-type", "map");
    schema.putArray("x-kubernetes-list-map-keys").add(key);
  }

  /** A pod template: containers with names, and whatever else the user writes. */
  static void podTemplate(ObjectNode schema) {
    schema.put("type", "object");
    schema.putArray("required").add("spec");
    ObjectNode properties = schema.putObject("properties");
    open(properties.putObject("metadata"), "Labels and annotations of the pods.");
    ObjectNode spec = open(properties.putObject("spec"), "What the pods run.");
    spec.putArray("required").add("containers");
    ObjectNode containers = spec.putObject("properties").putObject("containers");
    containers.put("type", "array");
    containers.put("description", "Containers of the pod; the first one is the driver.");
    containers.put("minItems", 1);
    ObjectNode container = open(containers.putObject("items"), "A container.");
    container.putArray("required").add("name");
    ObjectNode fields = container.putObject("properties");
    text(fields.putObject("name"), "Name of the container.").put("minLength", 1);
    text(fields.putObject("image"), "Image that the container runs.");
  }

  /** Metadata of an object that is created from a template. */
  static void namedMetadata(ObjectNode schema) {
    open(schema, schema.path("description").asText());
    schema.putArray("required").add("name");
    ObjectNode properties = schema.putObject("properties");
    text(properties.putObject("name"), "Name of the object.")
        .put("maxLength", 253)
        .put("pattern", "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$");
    texts(properties.putObject("labels"), "Labels of the object.");
    texts(properties.putObject("annotations"), "Annotations of the object.");
  }

  /** A topology term for volumes: values that labels of nodes must have. */
  static void topologyTerm(ObjectNode schema) {
    open(schema, "Labels that nodes must have.");
    ObjectNode labels = schema.putObject("properties").putObject("matchLabelExpressions");
    labels.put("type", "array").put("description", "Labels, each of which a node must have.");
    ObjectNode label = open(labels.putObject("items"), "A label and its possible values.");
    label.putArray("required").add("key").add("values");
    ObjectNode fields = label.putObject("properties");
    text(fields.putObject("key"), "Name of the label.");
    ObjectNode values = fields.putObject("values");
    values.put("type", "array").put("description", "Values of which the label must have one.");
    values.put("minItems", 1);
    values.putObject("items").put("type", "string");
  }

  /** A toleration, with whatever later versions of Kubernetes add. */
  static void toleration(ObjectNode schema) {
    open(schema, "A taint that is tolerated.");
    ObjectNode fields = schema.putObject("properties");
    text(fields.putObject("key"), "Key of the taint. Default: every taint.");
    oneOf(
        text(fields.putObject("operator"), "How the value is compared. Default: Equal."),
        "Exists",
        "Equal");
    text(fields.putObject("value"), "Value of the taint. Default: the empty one.");
    oneOf(
        text(fields.putObject("effect"), "Effect of the taint. Default: every effect."),
        "NoSchedule",
        "PreferNoSchedule",
        "NoExecute");
    fields
        .putObject("tolerationSeconds")
        .put("type", "integer")
        .put("format", "int64")
        .put("description", "How long the pod stays on a node with the taint. Default: for ever.");
  }

  private static ObjectNode text(ObjectNode schema, String description) {
    return schema.put("type", "string").put("description", description);
  }

  private static void texts(ObjectNode schema, String description) {
    schema.put("type", "object").put("description", description);
    schema.putObject("additionalProperties").put("type", "string");
  }

  /** An object that keeps every field, with the description that it has. */
  static ObjectNode open(ObjectNode schema) {
    return open(schema, schema.path("description").asText());
  }

  /** An object that keeps every field. */
  static ObjectNode open(ObjectNode schema, String description) {
    schema.put("type", "object");
    schema.put("description", description);
    schema.put(KEEP, true);
    return schema;
  }
}
