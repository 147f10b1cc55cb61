package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.ApiException.Cause;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The checks of built-in kinds: immutable fields of the kinds that the operator replaces, and
 * images of containers, which an apply can remove. All other values are accepted.
 *
 * @param newer whether the server is newer than 1.20, when a CSIDriver became mutable in parts
 */
record Checks(ResourceType type, boolean newer) {

  void check(ObjectNode object, Optional<ObjectNode> live) {
    List<Cause> causes = new ArrayList<>(images(object));
    live.ifPresent(before -> causes.addAll(immutable(object, before)));
    if (!causes.isEmpty()) {
      throw ApiException.invalid(type, new Meta(object).name(), causes);
    }
  }

  private List<Cause> immutable(ObjectNode object, ObjectNode live) {
    return switch (type.groupResource()) {
      case "storageclasses.storage.k8s.io" ->
          changed(object, live, "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode");
      case "daemonsets.apps", "deployments.apps" -> changed(object, live, "spec.selector");
      case "rolebindings.rbac.authorization.k8s.io",
          "clusterrolebindings.rbac.authorization.k8s.io" ->
          changed(object, live, "roleRef");
      case "csidrivers.storage.k8s.io" ->
          newer
              ? changed(object, live, "spec.attachRequired", "spec.volumeLifecycleModes")
              : changed(object, live, "spec");
      case "secrets" -> changed(object, live, "type");
      default -> List.of();
    };
  }

  private static List<Cause> changed(ObjectNode object, ObjectNode live, String... paths) {
    return Stream.of(paths)
        .filter(path -> !Json.same(at(object, path), at(live, path)))
        .map(Cause::immutable)
        .toList();
  }

  private static JsonNode at(ObjectNode object, String path) {
    return Json.at(object, path.split("\\.", -1));
  }

  private List<Cause> images(ObjectNode object) {
    List<Cause> causes = new ArrayList<>();
    if (type.group().equals("apps")) {
      int index = 0;
      for (JsonNode container : at(object, "spec.template.spec.containers")) {
        if (!container.has("image")) {
          String field = "spec.template.spec.containers[%d].image".formatted(index);
          causes.add(new Cause("FieldValueRequired", "Required value", field));
        }
        index++;
      }
    }
    return causes;
  }
}
