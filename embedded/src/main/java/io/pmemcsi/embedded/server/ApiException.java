package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.ApplyConflictException;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.FieldError;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.List;
import java.util.stream.Collectors;

/** A refusal, worded as the real server words it. */
public final class ApiException extends RuntimeException {
  private final int code;
  private final transient ObjectNode status;

  private ApiException(int code, ObjectNode status) {
    super(Json.text(status, "message"));
    this.code = code;
    this.status = status;
  }

  /** What the client is sent. */
  public ApiAnswer answer() {
    return new ApiAnswer(code, status);
  }

  /** A refusal without details. */
  public static ApiException of(int code, String reason, String message) {
    ObjectNode status = Json.object();
    status.put("kind", "Status").put("apiVersion", "v1");
    status.putObject("metadata");
    status.put("status", "Failure").put("message", message).put("reason", reason);
    status.put("code", code);
    return new ApiException(code, status);
  }

  private ApiException detail(ResourceType type, String name, String kind) {
    ObjectNode details = status.putObject("details");
    if (!name.isEmpty()) {
      details.put("name", name);
    }
    if (!type.group().isEmpty()) {
      details.put("group", type.group());
    }
    details.put("kind", kind);
    return this;
  }

  static ApiException notFound(ResourceType type, String name) {
    return of(404, "NotFound", "%s \"%s\" not found".formatted(type.groupResource(), name))
        .detail(type, name, type.plural());
  }

  static ApiException alreadyExists(ResourceType type, String name, boolean deleting) {
    String prefix = deleting ? "object is being deleted: " : "";
    return of(
            409,
            "AlreadyExists",
            "%s%s \"%s\" already exists".formatted(prefix, type.groupResource(), name))
        .detail(type, name, type.plural());
  }

  static ApiException conflict(ResourceType type, String name, String why) {
    return of(
            409,
            "Conflict",
            "Operation cannot be fulfilled on %s \"%s\": %s"
                .formatted(type.groupResource(), name, why))
        .detail(type, name, type.plural());
  }

  static ApiException precondition(ResourceType type, String name, String why) {
    return of(
            409,
            "Conflict",
            "Operation cannot be fulfilled on %s \"%s\": %s".formatted(type.groupKind(), name, why))
        .detail(type, name, type.kind());
  }

  static ApiException modified(ResourceType type, String name) {
    return conflict(
        type,
        name,
        "the object has been modified; please apply your changes to the latest version and try"
            + " again");
  }

  static ApiException applyConflict(ApplyConflictException conflicts) {
    ApiException refusal = of(409, "Conflict", String.valueOf(conflicts.getMessage()));
    ArrayNode causes = refusal.status.putObject("details").putArray("causes");
    conflicts
        .conflicts()
        .forEach(
            conflict ->
                causes
                    .addObject()
                    .put("reason", "FieldManagerConflict")
                    .put("message", "conflict with " + conflict.manager())
                    .put("field", conflict.field()));
    return refusal;
  }

  static ApiException forbidden(ResourceType type, String name, String why) {
    return of(
            403,
            "Forbidden",
            "%s \"%s\" is forbidden: %s".formatted(type.groupResource(), name, why))
        .detail(type, name, type.plural());
  }

  static ApiException invalid(ResourceType type, String name, List<FieldError> errors) {
    String sentences =
        errors.stream().map(FieldError::sentence).distinct().collect(Collectors.joining(", "));
    ApiException refusal =
        of(
                422,
                "Invalid",
                "%s \"%s\" is invalid: %s"
                    .formatted(
                        type.groupKind(),
                        name,
                        errors.size() == 1 ? sentences : "[" + sentences + "]"))
            .detail(type, name, type.kind());
    ArrayNode causes = ((ObjectNode) refusal.status.get("details")).putArray("causes");
    errors.forEach(
        error ->
            causes
                .addObject()
                .put("reason", error.reason())
                .put("message", error.message())
                .put("field", error.path()));
    return refusal;
  }

  /** An update of a custom resource that names no version, worded unlike all else. */
  static ApiException versionNeeded(ResourceType type, String name) {
    ApiException refusal =
        invalid(
            type,
            name,
            List.of(
                FieldError.invalid(
                    "metadata.resourceVersion", "0x0", "must be specified for an update")));
    String message = Json.text(refusal.status, "message");
    refusal.status.put("message", message.replace(type.groupKind(), type.groupResource()));
    ((ObjectNode) refusal.status.get("details")).put("kind", type.plural());
    return refusal;
  }

  /** A patch for which the server has no better words. */
  static ApiException rejected() {
    ApiException refusal =
        of(422, "Invalid", "the server rejected our request due to an error in our request");
    refusal.status.putObject("details");
    return refusal;
  }

  /** An applied configuration with fields that its kind does not have. */
  static ApiException untypable(String why) {
    return bare("failed to create typed patch object: " + why);
  }

  /** A failure for which the server has no reason of its own. */
  public static ApiException bare(String message) {
    ApiException refusal = of(500, "", message);
    refusal.status.remove("reason");
    return refusal;
  }

  static ApiException managerNeeded() {
    return invalidOption(
        "PatchOptions",
        "fieldManager",
        "FieldValueRequired",
        "Required value: is required for apply patch");
  }

  static ApiException policyUnknown(String policy) {
    return invalidOption(
        "DeleteOptions",
        "propagationPolicy",
        "FieldValueNotSupported",
        "Unsupported value: \"%s\": supported values: ".formatted(policy)
            + "\"Foreground\", \"Background\", \"Orphan\", \"nil\"");
  }

  private static ApiException invalidOption(
      String options, String field, String reason, String message) {
    ApiException refusal =
        of(
            422,
            "Invalid",
            "%s.meta.k8s.io \"\" is invalid: %s: %s".formatted(options, field, message));
    ObjectNode details = refusal.status.putObject("details");
    details.put("group", "meta.k8s.io").put("kind", options);
    details
        .putArray("causes")
        .addObject()
        .put("reason", reason)
        .put("message", message)
        .put("field", field);
    return refusal;
  }

  static ApiException badRequest(String message) {
    return of(400, "BadRequest", message);
  }

  static ApiException gone(String message) {
    return of(410, "Expired", message);
  }

  /** No such subresource. */
  public static ApiException noSuchPart(ResourceType type, String name) {
    if (type.custom().isPresent()) {
      return notFound(type, name);
    }
    return notServed();
  }

  /** Nothing is served under an address. */
  public static ApiException notServed() {
    ApiException refusal = of(404, "NotFound", "the server could not find the requested resource");
    refusal.status.putObject("details");
    return refusal;
  }

  /** The method does not exist here. */
  public static ApiException methodNotAllowed() {
    ApiException refusal =
        of(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource");
    refusal.status.putObject("details");
    return refusal;
  }

  static ApiException unsupportedMediaType(String supported) {
    return of(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: "
            + supported);
  }
}
