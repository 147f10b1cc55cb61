package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.FieldError;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What makes the server refuse an object.
 *
 * @param newer whether the server is newer than the one that is known in every detail
 */
record Checks(ResourceType type, boolean newer) {
  private static final Pattern SUBDOMAIN =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  private static final String SUBDOMAIN_RULE =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or"
          + " '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex"
          + " used for validation is"
          + " '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

  void created(ObjectNode object) {
    List<FieldError> errors = new ArrayList<>();
    name(object, errors);
    type.custom().ifPresent(schema -> errors.addAll(schema.validate(object)));
    if (type.group().equals("apps") && !type.plural().equals("controllerrevisions")) {
      selector(object, errors);
      images(Json.at(object, "spec", "template", "spec"), "spec.template.spec", errors);
    } else if (type.is("", "pods")) {
      images(object.path("spec"), "spec", errors);
    }
    refuse(object, errors);
  }

  void updated(ObjectNode object, ObjectNode live) {
    List<FieldError> errors = new ArrayList<>();
    newFinalizers(object, live, errors);
    type.custom().ifPresent(schema -> errors.addAll(schema.validate(object)));
    if (type.group().equals("apps") && !type.plural().equals("controllerrevisions")) {
      selector(object, errors);
      images(Json.at(object, "spec", "template", "spec"), "spec.template.spec", errors);
    } else if (type.is("", "pods")) {
      images(object.path("spec"), "spec", errors);
    }
    immutable(object, live, errors);
    refuse(object, errors);
  }

  private void refuse(ObjectNode object, List<FieldError> errors) {
    if (!errors.isEmpty()) {
      throw ApiException.invalid(type, new Meta(object).name(), errors);
    }
  }

  private void name(ObjectNode object, List<FieldError> errors) {
    String name = new Meta(object).name();
    if (name.isEmpty()) {
      errors.add(FieldError.required("metadata.name", "name or generateName is required"));
    } else if (!type.group().equals("rbac.authorization.k8s.io")
        && !SUBDOMAIN.matcher(name).matches()) {
      errors.add(FieldError.invalid("metadata.name", quoted(name), SUBDOMAIN_RULE));
    }
  }

  private static void newFinalizers(ObjectNode object, ObjectNode live, List<FieldError> errors) {
    if (!new Meta(live).deleting()) {
      return;
    }
    List<String> added = new ArrayList<>(new Meta(object).finalizers());
    added.removeAll(new Meta(live).finalizers());
    if (!added.isEmpty()) {
      List<String> names = added.stream().map(Checks::quoted).toList();
      errors.add(
          FieldError.forbidden(
              "metadata.finalizers",
              "no new finalizers can be added if the object is being deleted, found new finalizers"
                  + " []string{%s}".formatted(String.join(", ", names))));
    }
  }

  private static void selector(ObjectNode object, List<FieldError> errors) {
    JsonNode wanted = Json.at(object, "spec", "selector", "matchLabels");
    JsonNode labels = Json.at(object, "spec", "template", "metadata", "labels");
    for (var label : wanted.properties()) {
      if (!Json.same(labels.path(label.getKey()), label.getValue())) {
        errors.add(
            FieldError.invalid(
                "spec.template.metadata.labels",
                "map[string]string" + labels,
                "`selector` does not match template `labels`"));
        return;
      }
    }
  }

  private static void images(JsonNode pod, String path, List<FieldError> errors) {
    if (pod.path("containers").isEmpty()) {
      errors.add(FieldError.required(path + ".containers", ""));
    }
    for (String list : List.of("initContainers", "containers")) {
      int index = 0;
      for (JsonNode container : pod.path(list)) {
        if (Json.text(container, "image").isEmpty()) {
          errors.add(FieldError.required("%s.%s[%d].image".formatted(path, list, index), ""));
        }
        index++;
      }
    }
  }

  private void immutable(ObjectNode object, ObjectNode live, List<FieldError> errors) {
    switch (type.groupResource()) {
      case "storageclasses.storage.k8s.io" -> {
        for (String field : List.of("parameters", "provisioner", "reclaimPolicy")) {
          if (changed(object, live, field)) {
            errors.add(
                FieldError.forbidden(field, "updates to %s are forbidden.".formatted(field)));
          }
        }
        frozen(object, live, errors, "volumeBindingMode");
      }
      case "daemonsets.apps", "deployments.apps" ->
          frozen(object, live, errors, "spec", "selector");
      case "rolebindings.rbac.authorization.k8s.io",
          "clusterrolebindings.rbac.authorization.k8s.io" -> {
        if (changed(object, live, "roleRef")) {
          errors.add(
              FieldError.invalid(
                  "roleRef", object.path("roleRef").toString(), "cannot change roleRef"));
        }
      }
      case "csidrivers.storage.k8s.io" -> {
        if (newer) {
          frozen(object, live, errors, "spec", "attachRequired");
          frozen(object, live, errors, "spec", "volumeLifecycleModes");
        } else {
          frozen(object, live, errors, "spec");
        }
      }
      case "secrets" -> frozen(object, live, errors, "type");
      default -> {}
    }
  }

  private static void frozen(
      ObjectNode object, ObjectNode live, List<FieldError> errors, String... path) {
    if (changed(object, live, path)) {
      JsonNode value = Json.at(object, path);
      errors.add(
          FieldError.invalid(
              String.join(".", path),
              value.isTextual() ? quoted(value.textValue()) : value.toString(),
              "field is immutable"));
    }
  }

  private static boolean changed(ObjectNode object, ObjectNode live, String... path) {
    return !Json.same(Json.at(object, path), Json.at(live, path));
  }

  private static String quoted(String text) {
    return '"' + text + '"';
  }
}
