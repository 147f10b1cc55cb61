package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.CustomSchema;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.schema.Type.Struct;
import io.pmemcsi.embedded.schema.TypeTable;
import io.pmemcsi.embedded.store.Objects;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** All kinds that are served: the built-in ones, and the custom ones defined by objects. */
public final class Catalog {
  static final String CRD_GROUP = "apiextensions.k8s.io";
  static final String CRDS = "customresourcedefinitions";

  private final List<ResourceType> builtIn;
  private final Struct objectMeta;
  private final boolean old;
  private final Map<String, List<ResourceType>> custom = new ConcurrentHashMap<>();

  Catalog(TypeTable table, ServerVersion version) {
    builtIn = table.resources().stream().filter(version::serves).toList();
    objectMeta = table.type("ObjectMeta");
    old = !version.newer();
  }

  Struct objectMeta() {
    return objectMeta;
  }

  /** Whether the server pretends to be newer than the one whose every detail is known. */
  boolean newer() {
    return !old;
  }

  /** Every kind in every served version. */
  public List<ResourceType> all(Objects objects) {
    List<ResourceType> all = new ArrayList<>(builtIn);
    objects.list(CRD_GROUP, CRDS, "").forEach(crd -> all.addAll(defined(crd)));
    return all;
  }

  /** The kind served under an address. */
  public Optional<ResourceType> find(Objects objects, String group, String version, String plural) {
    return all(objects).stream()
        .filter(type -> type.is(group, plural) && type.version().equals(version))
        .findFirst();
  }

  /** The kind that an object says it is. */
  Optional<ResourceType> ofKind(Objects objects, String apiVersion, String kind) {
    return all(objects).stream()
        .filter(type -> type.kind().equals(kind) && type.apiVersion().equals(apiVersion))
        .findFirst();
  }

  private List<ResourceType> defined(ObjectNode crd) {
    String key =
        Json.text(crd, "metadata", "uid") + "/" + Json.text(crd, "metadata", "resourceVersion");
    return custom.computeIfAbsent(key, _ -> read(crd));
  }

  private List<ResourceType> read(ObjectNode crd) {
    JsonNode spec = crd.path("spec");
    JsonNode names = spec.path("names");
    List<String> shortNames = new ArrayList<>();
    names.path("shortNames").forEach(name -> shortNames.add(name.asText()));
    List<ResourceType> types = new ArrayList<>();
    for (JsonNode version : spec.path("versions")) {
      if (!version.path("served").asBoolean()) {
        continue;
      }
      CustomSchema schema = schema(spec, version);
      types.add(
          new ResourceType(
              Json.text(spec, "group"),
              Json.text(version, "name"),
              Json.text(names, "plural"),
              Json.text(names, "kind"),
              Json.text(spec, "scope").equals("Namespaced"),
              shortNames,
              version.path("subresources").has("status"),
              version.path("subresources").has("scale"),
              true,
              !old || schema.typable() ? schema.type(objectMeta) : CustomSchema.untyped(),
              Optional.of(schema)));
    }
    return types;
  }

  private static CustomSchema schema(JsonNode spec, JsonNode version) {
    JsonNode openApi = Json.at(version, "schema", "openAPIV3Schema");
    String listKind = Json.text(spec, "names", "listKind");
    return new CustomSchema(
        openApi instanceof ObjectNode object ? object : Json.object(),
        listKind.isEmpty() ? Json.text(spec, "names", "kind") + "List" : listKind,
        spec.path("preserveUnknownFields").asBoolean());
  }
}
