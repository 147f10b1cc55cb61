package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.Decoding;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.List;
import java.util.Locale;

/** The defaults of built-in kinds that depend on other fields, beyond those of the type table. */
final class Defaults {
  static final String TEMPLATE_GENERATION = "deprecated.daemonset.template.generation";

  private Defaults() {}

  /** Decodes a client's object as the server's own type, in place. */
  static void decode(ObjectNode object, ResourceType type) {
    Decoding.normalise(object, type.type());
    switch (type.groupResource()) {
      case "deployments.apps" -> rollingUpdate(Json.at(object, "spec", "strategy"));
      case "daemonsets.apps" -> {
        rollingUpdate(Json.at(object, "spec", "updateStrategy"));
        templateGeneration(object);
      }
      case "statefulsets.apps" -> rollingUpdate(Json.at(object, "spec", "updateStrategy"));
      case "customresourcedefinitions.apiextensions.k8s.io" -> crdNames(object);
      default -> {}
    }
    Decoding.presets(object, type.type());
    switch (type.groupResource()) {
      case "pods" -> pod(object.path("spec"));
      case "deployments.apps", "daemonsets.apps", "statefulsets.apps" ->
          pod(Json.at(object, "spec", "template", "spec"));
      case "services" -> Json.at(object, "spec", "ports").forEach(Defaults::servicePort);
      default -> {}
    }
  }

  private static void rollingUpdate(JsonNode strategy) {
    String type = Json.text(strategy, "type");
    if (strategy instanceof ObjectNode object && (type.isEmpty() || type.equals("RollingUpdate"))) {
      Json.child(object, "rollingUpdate");
    }
  }

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

  private static void pod(JsonNode spec) {
    if (!(spec instanceof ObjectNode pod)) {
      return;
    }
    if (pod.has("serviceAccountName")) {
      pod.set("serviceAccount", pod.get("serviceAccountName"));
    } else if (pod.has("serviceAccount")) {
      pod.set("serviceAccountName", pod.get("serviceAccount"));
    }
    boolean hostNetwork = pod.path("hostNetwork").asBoolean();
    for (String list : List.of("initContainers", "containers")) {
      pod.path(list).forEach(container -> container((ObjectNode) container, hostNetwork));
    }
    for (JsonNode volume : pod.path("volumes")) {
      if (volume.size() == 1) {
        ((ObjectNode) volume).putObject("emptyDir");
      }
    }
  }

  private static void container(ObjectNode container, boolean hostNetwork) {
    if (!container.has("imagePullPolicy")) {
      String image = Json.text(container, "image");
      String tag = image.substring(image.lastIndexOf('/') + 1);
      boolean latest = (!tag.contains(":") && !tag.contains("@")) || tag.endsWith(":latest");
      container.put("imagePullPolicy", latest ? "Always" : "IfNotPresent");
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
}
