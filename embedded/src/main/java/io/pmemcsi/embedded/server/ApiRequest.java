package io.pmemcsi.embedded.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.store.Key;
import java.util.Map;
import java.util.Optional;

/**
 * A request for a resource.
 *
 * @param namespace "" for cluster-scoped resources and for all namespaces
 * @param name "" for the whole collection
 * @param subresource "" for the object itself
 * @param query the parameters of the address, one value each
 * @param contentType of the body, without parameters
 * @param userAgent the client's own name, which becomes its field manager if it names none
 */
public record ApiRequest(
    Verb verb,
    ResourceType type,
    String namespace,
    String name,
    String subresource,
    Map<String, String> query,
    String contentType,
    Optional<JsonNode> body,
    String userAgent) {

  String parameter(String parameter) {
    return query.getOrDefault(parameter, "");
  }

  boolean flag(String parameter) {
    String value = parameter(parameter);
    return value.equals("true") || value.equals("1");
  }

  boolean dryRun() {
    return parameter("dryRun").equals("All");
  }

  Key key() {
    return new Key(type.group(), type.plural(), namespace, name);
  }

  String manager() {
    String given = parameter("fieldManager");
    if (!given.isEmpty()) {
      return given;
    }
    String prefix = userAgent.split("/", 2)[0];
    return prefix.isEmpty() ? "unknown" : prefix.substring(0, Math.min(128, prefix.length()));
  }
}
