package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Decoding;
import io.pmemcsi.embedded.schema.ResourceType;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;

/**
 * What the server does to built-in objects beyond the type table: defaults that depend on others.
 */
final class BuiltIn {
  static final String TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

  private BuiltIn() {}

  /** Reads a client's object as the server's own type, in place. */
  static void decode(ObjectNode object, ResourceType type) {
    Decoding.normalise(object, type.type());
    preDefaults(object, type);
    Decoding.presets(object, type.type());
    conditionalDefaults(object, type);
  }

  private static void preDefaults(ObjectNode object, ResourceType type) {
    switch (type.groupResource()) {
      case "deployments.apps" -> rollingUpdate(Json.at(object, "spec", "strategy"));
      case "daemonsets.apps" -> {
        rollingUpdate(Json.at(object, "spec", "updateStrategy"));
        templateGeneration(object);
      }
      case "statefulsets.apps" -> {
        rollingUpdate(Json.at(object, "spec", "updateStrategy"));
        Json.at(object, "spec", "volumeClaimTemplates")
            .forEach(
                claim ->
                    ((ObjectNode) claim)
                        .put("apiVersion", "v1")
                        .put("kind", "PersistentVolumeClaim"));
      }
      case "customresourcedefinitions.apiextensions.k8s.io" -> crdNames(object);
      default -> {}
    }
  }

  private static void rollingUpdate(JsonNode strategy) {
    String type = Json.text(strategy, "type");
    if (strategy instanceof ObjectNode object && (type.isEmpty() || type.equals("RollingUpdate"))) {
      Json.child(object, "rollingUpdate");
    }
  }

  // What is left of a field of older versions, which counted the changes of the pod template.
  private static void templateGeneration(ObjectNode daemonSet) {
    ObjectNode annotations = Json.child(Json.child(daemonSet, "metadata"), "annotations");
    if (!annotations.has(TEMPLATE_GENERATION)) {
      annotations.put(TEMPLATE_GENERATION, "1");
    }
  }

  private static void crdNames(ObjectNode crd) {
    if (Json.at(crd, "spec", "names") instanceof ObjectNode names) {
      String kind = Json.text(names, "kind");
      if (!names.has("singular")) {
        names.put("singular", kind.toLowerCase(Locale.ROOT));
      }
      if (!names.has("listKind")) {
        names.put("listKind", kind + "List");
      }
    }
  }

  private static void conditionalDefaults(ObjectNode object, ResourceType type) {
    switch (type.groupResource()) {
      case "pods" -> pod(object.path("spec"), true);
      case "deployments.apps",
          "daemonsets.apps",
          "statefulsets.apps",
          "replicasets.apps",
          "jobs.batch" ->
          pod(Json.at(object, "spec", "template", "spec"), false);
      case "services" -> Json.at(object, "spec", "ports").forEach(BuiltIn::servicePort);
      case "secrets" -> secret(object);
      case "rolebindings.rbac.authorization.k8s.io",
          "clusterrolebindings.rbac.authorization.k8s.io" ->
          object.path("subjects").forEach(BuiltIn::subject);
      default -> {}
    }
  }

  private static void pod(JsonNode spec, boolean itself) {
    if (!(spec instanceof ObjectNode pod)) {
      return;
    }
    if (pod.has("serviceAccountName")) {
      pod.set("serviceAccount", pod.get("serviceAccountName"));
    } else if (pod.has("serviceAccount")) {
      pod.set("serviceAccountName", pod.get("serviceAccount"));
    }
    boolean hostNetwork = pod.path("hostNetwork").asBoolean();
    for (String list : new String[] {"initContainers", "containers"}) {
      pod.path(list).forEach(container -> container((ObjectNode) container, hostNetwork, itself));
    }
    for (JsonNode volume : pod.path("volumes")) {
      if (volume.size() == 1) {
        ((ObjectNode) volume).putObject("emptyDir");
      }
    }
  }

  private static void container(ObjectNode container, boolean hostNetwork, boolean requests) {
    if (!container.has("imagePullPolicy")) {
      String image = Json.text(container, "image");
      String tag = image.substring(image.lastIndexOf('/') + 1);
      boolean latest = (!tag.contains(":") && !tag.contains("@")) || tag.endsWith(":latest");
      container.put("imagePullPolicy", latest ? "Always" : "IfNotPresent");
    }
    if (requests && Json.at(container, "resources", "limits") instanceof ObjectNode limits) {
      ObjectNode wanted = Json.child((ObjectNode) container.get("resources"), "requests");
      for (Map.Entry<String, JsonNode> limit : limits.properties()) {
        if (!wanted.has(limit.getKey())) {
          wanted.set(limit.getKey(), limit.getValue());
        }
      }
    }
    for (JsonNode port : container.path("ports")) {
      if (hostNetwork && !port.has("hostPort")) {
        ((ObjectNode) port).set("hostPort", port.path("containerPort"));
      }
    }
  }

  private static void servicePort(JsonNode port) {
    if (!port.has("targetPort") && port.has("port")) {
      ((ObjectNode) port).set("targetPort", port.get("port"));
    }
  }

  private static void secret(ObjectNode secret) {
    if (secret.remove("stringData") instanceof ObjectNode texts) {
      ObjectNode data = Json.child(secret, "data");
      for (Map.Entry<String, JsonNode> text : texts.properties()) {
        byte[] bytes = text.getValue().asText().getBytes(StandardCharsets.UTF_8);
        data.put(text.getKey(), Base64.getEncoder().encodeToString(bytes));
      }
    }
  }

  private static void subject(JsonNode subject) {
    String kind = Json.text(subject, "kind");
    if (!subject.has("apiGroup") && (kind.equals("User") || kind.equals("Group"))) {
      ((ObjectNode) subject).put("apiGroup", "rbac.authorization.k8s.io");
    }
  }
}
