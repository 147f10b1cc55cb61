package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.ApplyConflictException;
import io.pmemcsi.embedded.apply.Undeclared;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.patch.InvalidPatchException;
import io.pmemcsi.embedded.patch.JsonPatch;
import io.pmemcsi.embedded.patch.MergePatch;
import io.pmemcsi.embedded.patch.StrategicMergePatch;
import io.pmemcsi.embedded.schema.FieldError;
import io.pmemcsi.embedded.store.Transaction;
import java.util.List;
import java.util.Optional;

/** The four kinds of patch. */
final class Patching {
  static final String APPLY = "application/apply-patch+yaml";
  static final String JSON = "application/json-patch+json";
  static final String MERGE = "application/merge-patch+json";
  static final String STRATEGIC = "application/strategic-merge-patch+json";

  private final Transaction transaction;
  private final Writing writing;

  Patching(Transaction transaction, Writing writing) {
    this.transaction = transaction;
    this.writing = writing;
  }

  ApiAnswer patch(ApiRequest request) {
    JsonNode body = request.body().orElseGet(Json::object);
    Optional<ObjectNode> live = transaction.get(request.key());
    if (request.contentType().equals(APPLY)) {
      return apply(request, live, body);
    }
    ObjectNode current =
        live.orElseThrow(() -> ApiException.notFound(request.type(), request.name()));
    ObjectNode patched = patched(request, Reading.as(request.type(), current), body);
    checkName(new Meta(patched).name(), request.name());
    String uid = new Meta(patched).uid();
    if (!uid.equals(new Meta(current).uid())) {
      throw ApiException.invalid(
          request.type(),
          request.name(),
          List.of(FieldError.invalid("metadata.uid", '"' + uid + '"', "field is immutable")));
    }
    return new ApiAnswer(
        200,
        writing.update(current, patched, request.subresource(), Optional.of(request.manager())));
  }

  private static void checkName(String name, String wanted) {
    if (!name.equals(wanted)) {
      throw ApiException.badRequest(
          "the name of the object (%s) does not match the name on the URL (%s)"
              .formatted(name, wanted));
    }
  }

  private static ObjectNode patched(ApiRequest request, ObjectNode live, JsonNode body) {
    try {
      JsonNode result =
          switch (request.contentType()) {
            case JSON -> JsonPatch.apply(live, body);
            case MERGE -> MergePatch.apply(live, object(body));
            case STRATEGIC -> strategic(request, live, body);
            default -> throw unsupported(request);
          };
      return object(result);
    } catch (InvalidPatchException e) {
      throw switch (e.kind()) {
        case MALFORMED -> ApiException.badRequest(String.valueOf(e.getMessage()));
        case UNAPPLICABLE -> ApiException.rejected();
      };
    }
  }

  private static ObjectNode strategic(ApiRequest request, ObjectNode live, JsonNode body) {
    if (request.type().custom().isPresent()) {
      throw unsupported(request);
    }
    return StrategicMergePatch.apply(live, object(body), request.type().type());
  }

  private static ApiException unsupported(ApiRequest request) {
    String supported =
        request.type().custom().isPresent()
            ? "%s, %s, %s".formatted(JSON, MERGE, APPLY)
            : "%s, %s, %s, %s".formatted(JSON, MERGE, STRATEGIC, APPLY);
    return ApiException.unsupportedMediaType(supported);
  }

  private ApiAnswer apply(ApiRequest request, Optional<ObjectNode> live, JsonNode body) {
    if (request.parameter("fieldManager").isEmpty()) {
      throw ApiException.managerNeeded();
    }
    ObjectNode config = object(body).deepCopy();
    if (!Json.text(config, "apiVersion").equals(request.type().apiVersion())) {
      throw ApiException.badRequest(
          "Incorrect version specified in apply patch. Specified patch version: %s, expected: %s"
              .formatted(Json.text(config, "apiVersion"), request.type().apiVersion()));
    }
    if (Json.at(config, "metadata").has("managedFields")) {
      throw ApiException.badRequest("metadata.managedFields must be nil");
    }
    if (live.isEmpty() && !request.subresource().isEmpty()) {
      throw ApiException.notFound(request.type(), request.name());
    }
    Meta meta = new Meta(config);
    if (!meta.name().isEmpty()) {
      checkName(meta.name(), request.name());
    }
    meta.set("name", request.name());
    meta.set("namespace", request.namespace());
    if (live.isEmpty()) {
      meta.set("resourceVersion", "");
    }
    Undeclared.in(config, request.type().type())
        .ifPresent(
            why -> {
              throw ApiException.untypable(why);
            });
    try {
      ObjectNode before = live.map(o -> Reading.as(request.type(), o)).orElseGet(writing::empty);
      ObjectNode applied =
          writing
              .ownership(request.parameter("fieldManager"))
              .apply(writing.empty(), before, config, request.flag("force"));
      return live.isPresent()
          ? new ApiAnswer(
              200, writing.update(live.get(), applied, request.subresource(), Optional.empty()))
          : new ApiAnswer(201, writing.create(applied, request.namespace(), Optional.empty()));
    } catch (ApplyConflictException e) {
      throw ApiException.applyConflict(e);
    }
  }

  private static ObjectNode object(JsonNode node) {
    if (node instanceof ObjectNode object) {
      return object;
    }
    throw ApiException.badRequest("a JSON object is needed, not " + node);
  }
}
