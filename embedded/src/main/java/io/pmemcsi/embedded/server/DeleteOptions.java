package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.util.Optional;

/**
 * How to delete.
 *
 * @param policy empty where the client leaves it to the server
 * @param uid the identity that the object must have, "" for any
 * @param resourceVersion the version that it must have, "" for any
 */
record DeleteOptions(Optional<Policy> policy, String uid, String resourceVersion, boolean dryRun) {
  enum Policy {
    BACKGROUND,
    FOREGROUND,
    ORPHAN
  }

  static DeleteOptions with(Policy policy) {
    return new DeleteOptions(Optional.of(policy), "", "", false);
  }

  static DeleteOptions of(ApiRequest request) {
    JsonNode body = request.body().orElseGet(Json::object);
    String policy = Json.text(body, "propagationPolicy");
    if (policy.isEmpty()) {
      policy = request.parameter("propagationPolicy");
    }
    JsonNode orphan = body.path("orphanDependents");
    boolean dryRun = request.dryRun() || body.path("dryRun").path(0).asText("").equals("All");
    return new DeleteOptions(
        policy(policy, orphan),
        Json.text(body, "preconditions", "uid"),
        Json.text(body, "preconditions", "resourceVersion"),
        dryRun);
  }

  private static Optional<Policy> policy(String name, JsonNode orphan) {
    return switch (name) {
      case "Background" -> Optional.of(Policy.BACKGROUND);
      case "Foreground" -> Optional.of(Policy.FOREGROUND);
      case "Orphan" -> Optional.of(Policy.ORPHAN);
      case "" ->
          orphan.isBoolean()
              ? Optional.of(orphan.asBoolean() ? Policy.ORPHAN : Policy.BACKGROUND)
              : Optional.empty();
      default -> throw ApiException.policyUnknown(name);
    };
  }
}
