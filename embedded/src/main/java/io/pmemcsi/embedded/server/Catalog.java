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

/** The served kinds: built-in ones, and those that custom resource definitions define. */
public final class Catalog {
  static final String CRD_GROUP = "apiextensions.k8s.io";
  static final String CRDS = "customresourcedefinitions";

  private final List<ResourceType> builtIn;
  private final Struct objectMeta;
  private final ServerVersion version;
  private final Map<String, List<ResourceType>> custom = new ConcurrentHashMap<>();

  Catalog(ServerVersion version) {
    TypeTable table = TypeTable.read(version.newer());
    this.version = version;
    builtIn = table.resources().stream().filter(version::serves).toList();
    objectMeta = table.type("ObjectMeta");
  }

  public ServerVersion version() {
    return version;
  }

  Struct objectMeta() {
    return objectMeta;
  }

  /** Every kind in every served version. */
  public List<ResourceType> all(Objects objects) {
    List<ResourceType> all = new ArrayList<>(builtIn);
    objects.list(CRD_GROUP, CRDS, "").forEach(crd -> all.addAll(defined(crd)));
    return all;
  }

  /** The kind with an address. */
  public Optional<ResourceType> find(
      Objects objects, String group, String kindVersion, String plural) {
    return all(objects).stream()
        .filter(type -> type.is(group, plural) && type.version().equals(kindVersion))
        .findFirst();
  }

  /** The kind that an object or a reference names. */
  Optional<ResourceType> ofKind(Objects objects, JsonNode object) {
    String apiVersion = Json.text(object, "apiVersion");
    String kind = Json.text(object, "kind");
    return all(objects).stream()
        .filter(type -> type.kind().equals(kind) && type.apiVersion().equals(apiVersion))
        .findFirst();
  }

  private List<ResourceType> defined(ObjectNode crd) {
    Meta meta = new Meta(crd);
    return custom.computeIfAbsent(
        meta.uid() + "/" + meta.get("resourceVersion"), _ -> read(crd.path("spec")));
  }

  private List<ResourceType> read(JsonNode spec) {
    List<ResourceType> types = new ArrayList<>();
    for (JsonNode kindVersion : spec.path("versions")) {
      if (kindVersion.path("served").asBoolean()) {
        types.add(
            new ResourceType(
                Json.text(spec, "group"),
                Json.text(kindVersion, "name"),
                Json.text(spec, "names", "plural"),
                Json.text(spec, "names", "kind"),
                Json.text(spec, "scope").equals("Namespaced"),
                kindVersion.path("subresources").has("status"),
                true,
                CustomSchema.mergeType(version.newer(), objectMeta),
                Optional.of(new CustomSchema(Json.at(kindVersion, "schema", "openAPIV3Schema")))));
      }
    }
    return types;
  }
}
