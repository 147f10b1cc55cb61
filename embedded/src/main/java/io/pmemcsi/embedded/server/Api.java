package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Store;
import io.pmemcsi.embedded.store.Transaction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The API server without HTTP: a request in, a response out. */
public final class Api {
  private final Store store;
  private final Catalog catalog;
  private final Stamps stamps = new Stamps();

  public Api(Store store, ServerVersion version) {
    this.store = store;
    this.catalog = new Catalog(version);
  }

  public Catalog catalog() {
    return catalog;
  }

  /** Handles a get or list on a state that may be stale. */
  public ApiResponse read(ApiRequest request, Store.At state) {
    return request.name().isEmpty() ? list(request, state) : get(request, state);
  }

  private static ApiResponse get(ApiRequest request, Store.At state) {
    return state
        .objects()
        .get(request.key())
        .map(found -> new ApiResponse(200, inVersion(request.type(), found)))
        .orElseThrow(() -> ApiException.notFound(request.type(), request.name()));
  }

  // A client gets all objects in one response, whatever limit it asks for: a limit is a hint.
  private static ApiResponse list(ApiRequest request, Store.At state) {
    ResourceType type = request.type();
    ObjectNode list =
        Json.object().put("kind", type.kind() + "List").put("apiVersion", type.apiVersion());
    list.putObject("metadata").put("resourceVersion", Long.toString(state.revision()));
    ArrayNode items = list.putArray("items");
    Predicate<JsonNode> filter = filter(request);
    for (ObjectNode object :
        state.objects().list(type.group(), type.plural(), request.namespace())) {
      if (filter.test(object)) {
        items.add(item(type, object));
      }
    }
    return new ApiResponse(200, list);
  }

  /** An object in a list: built-in ones have no kind and version there. */
  private static ObjectNode item(ResourceType type, ObjectNode object) {
    if (type.custom().isPresent()) {
      return inVersion(type, object);
    }
    ObjectNode item = Json.object();
    item.setAll(object);
    item.remove(List.of("apiVersion", "kind"));
    return item;
  }

  /** Which objects a list or watch selects. */
  public static Predicate<JsonNode> filter(ApiRequest request) {
    return Selector.of(request);
  }

  /** An object in the requested version. */
  public static ObjectNode inVersion(ResourceType type, ObjectNode object) {
    return Writer.inVersion(type, object);
  }

  /** Carries out a write; if it throws, nothing has changed. */
  public ApiResponse write(ApiRequest request) {
    return store.transact(
        request.dryRun(),
        transaction -> {
          ApiResponse response = write(request, transaction);
          new ClusterControllers(transaction, catalog, stamps).run();
          return response;
        });
  }

  private ApiResponse write(ApiRequest request, Transaction transaction) {
    Writer writer = new Writer(transaction, catalog, stamps, request);
    ApiResponse response =
        switch (request.verb()) {
          case CREATE -> writer.create();
          case UPDATE -> writer.update();
          case PATCH -> writer.patch();
          case DELETE -> new Deletion(transaction, stamps).delete(request);
          case GET, LIST, WATCH ->
              throw new IllegalArgumentException("not a write: " + request.verb());
        };
    return Json.text(response.body(), "kind").equals("Status")
        ? response
        : new ApiResponse(response.code(), inVersion(request.type(), response.body()));
  }

  /** Creates one of the namespaces that every cluster has. */
  public void createNamespace(String name) {
    ResourceType type = catalog.find(store.now().objects(), "", "v1", "namespaces").orElseThrow();
    ObjectNode namespace = Json.object();
    namespace.putObject("metadata").put("name", name);
    write(
        new ApiRequest(
            Verb.CREATE,
            type,
            "",
            "",
            "",
            Map.of(),
            "application/json",
            Optional.of(namespace),
            "embedded"));
  }
}
