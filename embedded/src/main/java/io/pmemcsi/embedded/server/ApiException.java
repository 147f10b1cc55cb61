package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.apply.ApplyConflictException;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import java.util.List;
import java.util.stream.Collectors;

/** A refused request. Code, reason and causes are those of a real server; the message is not. */
public final class ApiException extends RuntimeException {
  private final int code;
  private final String reason;
  private final transient List<Cause> causes;

  /** One wrong field. */
  record Cause(String reason, String message, String field) {

    static Cause immutable(String field) {
      return new Cause("FieldValueInvalid", "Invalid value: field is immutable", field);
    }
  }

  private ApiException(int code, String reason, String message, List<Cause> causes) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.causes = causes;
  }

  /** The Status object for the client. */
  public ApiResponse response() {
    ObjectNode status = Json.object().put("kind", "Status").put("apiVersion", "v1");
    status.putObject("metadata");
    status.put("status", "Failure").put("message", getMessage()).put("code", code);
    if (!reason.isEmpty()) {
      status.put("reason", reason);
    }
    if (!causes.isEmpty()) {
      ArrayNode list = status.putObject("details").putArray("causes");
      for (Cause cause : causes) {
        list.addObject()
            .put("reason", cause.reason())
            .put("message", cause.message())
            .put("field", cause.field());
      }
    }
    return new ApiResponse(code, status);
  }

  public static ApiException of(int code, String reason, String message) {
    return new ApiException(code, reason, message, List.of());
  }

  static ApiException notFound(ResourceType type, String name) {
    return of(404, "NotFound", "%s \"%s\" not found".formatted(type.groupResource(), name));
  }

  /** No resource has this address. */
  public static ApiException notServed() {
    return of(404, "NotFound", "the server could not find the requested resource");
  }

  public static ApiException methodNotAllowed() {
    return of(405, "MethodNotAllowed", "the server does not allow this method here");
  }

  static ApiException alreadyExists(ResourceType type, String name) {
    return of(
        409, "AlreadyExists", "%s \"%s\" already exists".formatted(type.groupResource(), name));
  }

  static ApiException conflict(ResourceType type, String name, String why) {
    return of(409, "Conflict", "%s \"%s\": %s".formatted(type.groupResource(), name, why));
  }

  static ApiException applyConflict(ApplyConflictException conflicts) {
    List<Cause> causes =
        conflicts.conflicts().stream()
            .map(
                conflict ->
                    new Cause(
                        "FieldManagerConflict",
                        "conflict with \"%s\"".formatted(conflict.manager()),
                        conflict.field()))
            .toList();
    return new ApiException(409, "Conflict", String.valueOf(conflicts.getMessage()), causes);
  }

  static ApiException invalid(ResourceType type, String name, List<Cause> causes) {
    String details =
        causes.stream()
            .map(cause -> cause.field() + ": " + cause.message())
            .collect(Collectors.joining(", "));
    return new ApiException(
        422,
        "Invalid",
        "%s \"%s\" is invalid: %s".formatted(type.groupResource(), name, details),
        causes);
  }

  static ApiException badRequest(String message) {
    return of(400, "BadRequest", message);
  }

  /** A feature of the real server that no user of the embedded one needs. */
  public static ApiException unsupported(String what) {
    return of(501, "NotImplemented", "the embedded API does not support " + what);
  }
}
