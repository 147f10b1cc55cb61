package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.schema.TypeTable;
import io.pmemcsi.embedded.store.Objects;
import io.pmemcsi.embedded.store.Store;
import io.pmemcsi.embedded.store.Transaction;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The API server without HTTP: one request in, one answer out. */
public final class Api {
  /** Kinds that an update may create. */
  private static final Set<String> CREATED_ON_UPDATE =
      Set.of(
          "services",
          "endpoints",
          "events",
          "leases.coordination.k8s.io",
          "roles.rbac.authorization.k8s.io",
          "rolebindings.rbac.authorization.k8s.io",
          "clusterroles.rbac.authorization.k8s.io",
          "clusterrolebindings.rbac.authorization.k8s.io");

  private static final String SCHEME = "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30";

  private final Store store;
  private final Catalog catalog;
  private final ServerContext surroundings;
  private final Reading reading;

  public Api(Store store, ServerVersion version, InstantSource clock, long seed) {
    this.store = store;
    this.catalog = new Catalog(TypeTable.read(version.newer()), version);
    this.surroundings = new ServerContext(clock, seed);
    this.reading = new Reading(store);
  }

  public Catalog catalog() {
    return catalog;
  }

  /** Answers a read from a view that may be stale. */
  public ApiAnswer read(ApiRequest request, Store.At view) {
    return switch (request.verb()) {
      case GET ->
          request.subresource().equals("scale")
              ? new ApiAnswer(200, Scale.of(request.type(), live(request, view.objects())))
              : Reading.get(request, view.objects());
      case LIST -> reading.list(request, view);
      case WATCH, CREATE, UPDATE, PATCH, DELETE, DELETECOLLECTION ->
          throw new IllegalArgumentException(request.verb() + " does not read one answer");
    };
  }

  /** Which objects a list or watch is about. */
  public static Predicate<JsonNode> filter(ApiRequest request) {
    return Reading.filter(request);
  }

  /** An object in the version that was asked for. */
  public static ObjectNode as(ResourceType type, ObjectNode object) {
    return Reading.as(type, object);
  }

  /** Carries out a write; if it throws, nothing has happened. */
  public ApiAnswer write(ApiRequest request) {
    try {
      return store.transact(
          transaction -> {
            ApiAnswer answer = versioned(request.type(), write(request, transaction));
            new Housekeeping(transaction, catalog, surroundings).settle();
            if (request.dryRun()) {
              throw new DryRun(answer);
            }
            return answer;
          });
    } catch (DryRun dryRun) {
      return dryRun.answer;
    }
  }

  private static ApiAnswer versioned(ResourceType type, ApiAnswer answer) {
    return Json.text(answer.body(), "kind").equals(type.kind())
        ? new ApiAnswer(answer.code(), Reading.as(type, answer.body()))
        : answer;
  }

  private ApiAnswer write(ApiRequest request, Transaction transaction) {
    Writing writing = new Writing(transaction, catalog, surroundings, request.type());
    return switch (request.verb()) {
      case CREATE -> create(request, writing);
      case UPDATE -> update(request, transaction, writing);
      case PATCH -> new Patching(transaction, writing).patch(scaled(request, transaction));
      case DELETE ->
          new Deleting(transaction, surroundings)
              .delete(request.type(), live(request, transaction), DeleteOptions.of(request));
      case DELETECOLLECTION -> deleteAll(request, transaction);
      case GET, LIST, WATCH -> throw new IllegalArgumentException(request.verb() + " writes not");
    };
  }

  private static ObjectNode live(ApiRequest request, Objects objects) {
    return objects
        .get(request.key())
        .orElseThrow(() -> ApiException.notFound(request.type(), request.name()));
  }

  private static ApiRequest scaled(ApiRequest request, Transaction transaction) {
    return request.subresource().equals("scale")
        ? Scale.patch(request, live(request, transaction))
        : request;
  }

  private static ApiAnswer create(ApiRequest request, Writing writing) {
    ObjectNode object = body(request);
    return new ApiAnswer(
        201, writing.create(object, request.namespace(), Optional.of(request.manager())));
  }

  private ApiAnswer update(ApiRequest request, Transaction transaction, Writing writing) {
    if (request.subresource().equals("scale")) {
      return Scale.update(request, live(request, transaction), writing);
    }
    ObjectNode object = body(request);
    String name = new Meta(object).name();
    if (!name.equals(request.name())) {
      throw ApiException.badRequest(
          name.isEmpty()
              ? "name must be provided"
              : "the name of the object (%s) does not match the name on the URL (%s)"
                  .formatted(name, request.name()));
    }
    Optional<ObjectNode> live = transaction.get(request.key());
    if (live.isEmpty() && CREATED_ON_UPDATE.contains(request.type().groupResource())) {
      return create(request, writing);
    }
    return new ApiAnswer(
        200,
        writing.update(
            live.orElseThrow(() -> ApiException.notFound(request.type(), request.name())),
            object,
            request.subresource(),
            Optional.of(request.manager())));
  }

  private ApiAnswer deleteAll(ApiRequest request, Transaction transaction) {
    ResourceType type = request.type();
    Deleting deleting = new Deleting(transaction, surroundings);
    ObjectNode answer =
        Json.object().put("kind", type.listKind()).put("apiVersion", type.apiVersion());
    answer.putObject("metadata").put("resourceVersion", Long.toString(store.revision()));
    ArrayNode items = answer.putArray("items");
    Predicate<JsonNode> filter = Reading.filter(request);
    for (ObjectNode object :
        List.copyOf(transaction.list(type.group(), type.plural(), request.namespace()))) {
      if (filter.test(object)) {
        items.add(Reading.item(type, object));
        deleting.delete(type, object, DeleteOptions.of(request));
      }
    }
    return new ApiAnswer(200, answer);
  }

  private static ObjectNode body(ApiRequest request) {
    if (!(request.body().orElse(null) instanceof ObjectNode object)) {
      throw ApiException.badRequest("the body of the request must be one JSON object");
    }
    String kind = Json.text(object, "kind");
    String apiVersion = Json.text(object, "apiVersion");
    ResourceType type = request.type();
    if (type.custom().isPresent() && kind.isEmpty()) {
      throw ApiException.badRequest(
          "%s in version \"%s\" cannot be handled as a %s: unmarshalerDecoder: Object 'Kind' is missing in '%s'"
              .formatted(type.kind(), type.version(), type.kind(), object));
    }
    boolean otherKind = !kind.isEmpty() && !kind.equals(type.kind());
    boolean otherVersion = !apiVersion.isEmpty() && !apiVersion.equals(type.apiVersion());
    if (otherKind || otherVersion) {
      throw ApiException.badRequest(
          otherVersion && type.custom().isPresent()
              ? "the API version in the data (%s) does not match the expected API version (%s)"
                  .formatted(apiVersion, type.apiVersion())
              : wrongType(type, kind, apiVersion, otherVersion));
    }
    String namespace = new Meta(object).namespace();
    if (!namespace.isEmpty() && !namespace.equals(request.namespace())) {
      throw ApiException.badRequest(
          request.verb() == Verb.UPDATE
              ? "the namespace of the object (%s) does not match the namespace on the request (%s)"
                  .formatted(namespace, request.namespace())
              : "the namespace of the provided object does not match the namespace sent on the"
                  + " request");
    }
    return object;
  }

  private static String wrongType(
      ResourceType type, String kind, String apiVersion, boolean otherVersion) {
    String why =
        otherVersion
            ? "no kind \"%s\" is registered for version \"%s\" in scheme \"%s\""
                .formatted(kind, apiVersion, SCHEME)
            : "converting (v1.%s) to (core.%s): unknown conversion".formatted(kind, type.kind());
    return "%s in version \"%s\" cannot be handled as a %s: %s"
        .formatted(
            kind,
            otherVersion ? apiVersion.substring(apiVersion.indexOf('/') + 1) : type.version(),
            type.kind(),
            why);
  }

  /** Undoes a transaction after its answer is known. */
  private static final class DryRun extends RuntimeException {
    private final transient ApiAnswer answer;

    DryRun(ApiAnswer answer) {
      super("dry run", null, false, false);
      this.answer = answer;
    }
  }
}
