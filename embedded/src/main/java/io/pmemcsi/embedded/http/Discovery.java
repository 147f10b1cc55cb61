package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.ServerVersion;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The discovery documents that clients of this project read. */
record Discovery(List<ResourceType> types, ServerVersion version) {
  private static final List<String> VERBS =
      List.of("create", "delete", "get", "list", "patch", "update", "watch");

  /** The document at a path, if there is one. */
  Optional<ObjectNode> document(List<String> path) {
    return switch (path.isEmpty() ? "" : path.getFirst()) {
      case "version" -> Optional.of(versionInfo());
      case "api" -> path.size() == 2 ? resources("", path.get(1)) : Optional.empty();
      case "apis" ->
          switch (path.size()) {
            case 1 -> Optional.of(groups());
            case 3 -> resources(path.get(1), path.get(2));
            default -> Optional.empty();
          };
      default -> Optional.empty();
    };
  }

  private ObjectNode versionInfo() {
    return Json.object()
        .put("major", Integer.toString(version.major()))
        .put("minor", Integer.toString(version.minor()))
        .put("gitVersion", version.toString())
        .put("platform", "embedded");
  }

  private ObjectNode groups() {
    ObjectNode document = Json.object().put("kind", "APIGroupList").put("apiVersion", "v1");
    ArrayNode groups = document.putArray("groups");
    types.stream()
        .map(ResourceType::group)
        .filter(group -> !group.isEmpty())
        .distinct()
        .forEach(group -> group(groups.addObject().put("name", group), group));
    return document;
  }

  private void group(ObjectNode entry, String group) {
    ArrayNode versions = entry.putArray("versions");
    types.stream()
        .filter(type -> type.group().equals(group))
        .map(ResourceType::version)
        .distinct()
        .sorted((one, other) -> Integer.compare(stability(other), stability(one)))
        .forEach(
            one -> versions.addObject().put("groupVersion", group + "/" + one).put("version", one));
    entry.set("preferredVersion", versions.get(0).deepCopy());
  }

  private static int stability(String version) {
    if (version.contains("alpha")) {
      return 0;
    }
    return version.contains("beta") ? 1 : 2;
  }

  private Optional<ObjectNode> resources(String group, String groupVersion) {
    List<ResourceType> served =
        types.stream()
            .filter(type -> type.group().equals(group) && type.version().equals(groupVersion))
            .toList();
    if (served.isEmpty()) {
      return Optional.empty();
    }
    ObjectNode document = Json.object().put("kind", "APIResourceList").put("apiVersion", "v1");
    document.put("groupVersion", served.getFirst().apiVersion());
    ArrayNode resources = document.putArray("resources");
    for (ResourceType type : served) {
      resource(resources.addObject(), type, "", VERBS);
      if (type.status()) {
        resource(resources.addObject(), type, "/status", List.of("get", "patch", "update"));
      }
    }
    return Optional.of(document);
  }

  private static void resource(
      ObjectNode entry, ResourceType type, String suffix, List<String> verbs) {
    boolean singular = type.custom().isPresent() && suffix.isEmpty();
    entry
        .put("name", type.plural() + suffix)
        .put("singularName", singular ? type.kind().toLowerCase(Locale.ROOT) : "")
        .put("namespaced", type.namespaced())
        .put("kind", type.kind());
    verbs.forEach(entry.putArray("verbs")::add);
  }
}
