package io.pmemcsi.operator.tools.diff;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An object as text, without what the server counts and without secrets. */
final class ShownObject {

  private static final List<String> OF_THE_SERVER =
      List.of(
          "managedFields",
          "resourceVersion",
          "generation",
          "uid",
          "selfLink",
          "creationTimestamp",
          "finalizers");

  private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

  /** Fields of both PMEM kinds with private keys. */
  private static final List<String> INLINE_KEYS = List.of("registryKey", "nodeControllerKey");

  private final KubernetesSerialization serialization;
  private final byte[] salt = new byte[16];

  ShownObject(KubernetesSerialization serialization) {
    this.serialization = serialization;
    new SecureRandom().nextBytes(salt);
  }

  String text(HasMetadata object) {
    ObjectNode tree = tree(object);
    tree.remove("status");
    if (object.getKind().equals("Secret")) {
      hide(tree.path("data"));
      hide(tree.path("stringData"));
    }
    if (tree.path("spec") instanceof ObjectNode spec) {
      INLINE_KEYS.stream()
          .filter(spec::hasNonNull)
          .forEach(key -> spec.put(key, fingerprint(spec.path(key).asText())));
    }
    return serialization.asYaml(sorted(tree));
  }

  /** The server keeps templates with their fields in an order of its own. */
  private static JsonNode sorted(JsonNode node) {
    return switch (node) {
      case ObjectNode object -> {
        var fields = new TreeMap<String, JsonNode>();
        object.properties().forEach(field -> fields.put(field.getKey(), sorted(field.getValue())));
        ObjectNode result = JsonNodeFactory.instance.objectNode();
        fields.forEach(result::set);
        yield result;
      }
      case ArrayNode array -> {
        ArrayNode result = JsonNodeFactory.instance.arrayNode();
        array.forEach(element -> result.add(sorted(element)));
        yield result;
      }
      default -> node;
    };
  }

  private ObjectNode tree(HasMetadata object) {
    ObjectNode tree = serialization.convertValue(object, ObjectNode.class);
    if (tree.path("metadata") instanceof ObjectNode metadata) {
      metadata.remove(OF_THE_SERVER);
      if (metadata.path("annotations") instanceof ObjectNode annotations) {
        annotations.remove(LAST_APPLIED);
        // the DaemonSet and Deployment controllers count here
        annotations.remove("deprecated.daemonset.template.generation");
        annotations.remove("deployment.kubernetes.io/revision");
        if (annotations.isEmpty()) {
          metadata.remove("annotations");
        }
      }
      if (metadata.path("labels").isEmpty()) {
        metadata.remove("labels");
      }
    }
    return tree;
  }

  private void hide(JsonNode data) {
    if (data instanceof ObjectNode values) {
      for (String key : values.properties().stream().map(Map.Entry::getKey).toList()) {
        values.set(key, TextNode.valueOf(fingerprint(values.path(key).asText())));
      }
    }
  }

  /** Shows that a value changes, and nothing about the value: the salt dies with the process. */
  private String fingerprint(String value) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(salt);
      byte[] hash = digest.digest(value.getBytes(StandardCharsets.UTF_8));
      return "(hidden %s)".formatted(HexFormat.of().formatHex(hash, 0, 4));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
