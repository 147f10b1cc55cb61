package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.server.ServerVersion;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The pages that say what is served. */
record Discovery(List<ResourceType> types, ServerVersion version) {
  private static final List<String> VERBS =
      List.of("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch");

  /** Kinds that can only be deleted one by one. */
  private static final Set<String> ONE_BY_ONE = Set.of("namespaces", "services");

  /** What kubectl shows for a word such as "all", by category. */
  private static final Map<String, Set<String>> CATEGORIES =
      Map.of(
          "all",
          Set.of(
              "pods",
              "services",
              "deployments.apps",
              "daemonsets.apps",
              "statefulsets.apps",
              "replicasets.apps",
              "jobs.batch"),
          "api-extensions",
          Set.of(
              "customresourcedefinitions.apiextensions.k8s.io",
              "mutatingwebhookconfigurations.admissionregistration.k8s.io",
              "validatingwebhookconfigurations.admissionregistration.k8s.io"));

  /** The page under a path, if it is one of discovery. */
  Optional<ObjectNode> page(List<String> path) {
    if (path.isEmpty()) {
      ObjectNode root = Json.object();
      root.putArray("paths").add("/api").add("/apis").add("/healthz").add("/version");
      return Optional.of(root);
    }
    return switch (path.getFirst()) {
      case "version" -> Optional.of(version.info());
      case "api" -> path.size() == 1 ? Optional.of(legacy()) : resources("", path.get(1), path, 2);
      case "apis" ->
          switch (path.size()) {
            case 1 -> Optional.of(groups());
            case 2 -> group(path.get(1));
            default -> resources(path.get(1), path.get(2), path, 3);
          };
      default -> Optional.empty();
    };
  }

  private static ObjectNode legacy() {
    ObjectNode page = Json.object().put("kind", "APIVersions");
    page.putArray("versions").add("v1");
    page.putArray("serverAddressByClientCIDRs");
    return page;
  }

  private ObjectNode groups() {
    ObjectNode page = Json.object().put("kind", "APIGroupList").put("apiVersion", "v1");
    ArrayNode groups = page.putArray("groups");
    Set<String> names = new TreeSet<>();
    types.forEach(type -> names.add(type.group()));
    names.remove("");
    names.forEach(
        name ->
            group(name).ifPresent(group -> groups.add(Json.without(group, "kind", "apiVersion"))));
    return page;
  }

  private Optional<ObjectNode> group(String name) {
    Set<String> versions =
        new TreeSet<>((a, b) -> rank(b) == rank(a) ? b.compareTo(a) : rank(b) - rank(a));
    types.stream()
        .filter(type -> type.group().equals(name))
        .forEach(type -> versions.add(type.version()));
    if (versions.isEmpty()) {
      return Optional.empty();
    }
    ObjectNode page =
        Json.object().put("kind", "APIGroup").put("apiVersion", "v1").put("name", name);
    ArrayNode list = page.putArray("versions");
    versions.forEach(
        version ->
            list.addObject().put("groupVersion", name + "/" + version).put("version", version));
    page.set("preferredVersion", list.get(0).deepCopy());
    return Optional.of(page);
  }

  // Stable versions come before beta and those before alpha ones.
  private static int rank(String version) {
    if (version.contains("alpha")) {
      return 0;
    }
    return version.contains("beta") ? 1 : 2;
  }

  private Optional<ObjectNode> resources(
      String group, String wanted, List<String> path, int length) {
    List<ResourceType> served =
        types.stream()
            .filter(type -> type.group().equals(group) && type.version().equals(wanted))
            .toList();
    if (path.size() != length) {
      return Optional.empty();
    }
    if (served.isEmpty()) {
      if (types.stream().anyMatch(type -> type.group().equals(group))) {
        throw ApiException.notServed();
      }
      return Optional.empty();
    }
    ObjectNode page = Json.object().put("kind", "APIResourceList");
    if (!group.isEmpty()) {
      page.put("apiVersion", "v1");
    }
    page.put("groupVersion", served.getFirst().apiVersion());
    ArrayNode resources = page.putArray("resources");
    for (ResourceType type : served) {
      ObjectNode resource = resource(resources, type, type.plural(), verbs(type));
      if (type.custom().isPresent()) {
        resource.put("singularName", type.kind().toLowerCase(Locale.ROOT));
      }
      names(resource, "shortNames", type.shortNames());
      names(resource, "categories", categories(type));
      if (type.status()) {
        resource(resources, type, type.plural() + "/status", List.of("get", "patch", "update"));
      }
      if (type.scale()) {
        resource(resources, type, type.plural() + "/scale", List.of("get", "patch", "update"))
            .put("group", "autoscaling")
            .put("version", "v1")
            .put("kind", "Scale");
      }
    }
    return Optional.of(page);
  }

  private static List<String> verbs(ResourceType type) {
    return ONE_BY_ONE.contains(type.groupResource())
        ? VERBS.stream().filter(verb -> !verb.equals("deletecollection")).toList()
        : VERBS;
  }

  private static List<String> categories(ResourceType type) {
    return CATEGORIES.entrySet().stream()
        .filter(category -> category.getValue().contains(type.groupResource()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** The server leaves a list out where there is nothing in it. */
  private static void names(ObjectNode resource, String field, List<String> names) {
    if (!names.isEmpty()) {
      names.forEach(resource.putArray(field)::add);
    }
  }

  private static ObjectNode resource(
      ArrayNode resources, ResourceType type, String name, List<String> verbs) {
    ObjectNode resource =
        resources
            .addObject()
            .put("name", name)
            .put("singularName", "")
            .put("namespaced", type.namespaced())
            .put("kind", type.kind());
    verbs.forEach(resource.putArray("verbs")::add);
    return resource;
  }
}
