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
 * @param name "" for the collection
 * @param subresource "" for the object itself
 * @param query the query parameters
 * @param contentType of the body, without parameters
 * @param userAgent the default of the field manager
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

  public String parameter(String parameter) {
    return query.getOrDefault(parameter, "");
  }

  boolean dryRun() {
    return parameter("dryRun").equals("All");
  }

  Key key() {
    return new Key(type.group(), type.plural(), namespace, name);
  }

  String manager() {
    String given = parameter("fieldManager");
    String prefix = userAgent.split("/", 2)[0];
    return given.isEmpty() ? prefix : given;
  }
}
