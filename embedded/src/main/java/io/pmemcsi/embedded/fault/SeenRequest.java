package io.pmemcsi.embedded.fault;

import java.util.Locale;
import java.util.Map;

/**
 * A request as fault plans and the request log see it.
 *
 * @param number counts all requests of a server from 1
 * @param verb in lower case as in RBAC rules: get, list, watch, create, update, patch, delete; for
 *     a page the HTTP method
 * @param group "" for the core group
 * @param plural "" for a page
 * @param namespace "" for cluster-scoped resources and all namespaces
 * @param name "" for collections; the path of a page
 * @param subresource "" for the object itself
 * @param contentType of the body, "" if there is none
 */
public record SeenRequest(
    long number,
    String verb,
    String group,
    String plural,
    String namespace,
    String name,
    String subresource,
    String contentType,
    Map<String, String> query) {

  /** A request for a page. */
  public static SeenRequest ofPage(long number, String method, String path) {
    return new SeenRequest(
        number, method.toLowerCase(Locale.ROOT), "", "", "", path, "", "", Map.of());
  }

  /** Whether it is not for a resource: discovery, version, or a path that is not served. */
  public boolean page() {
    return plural.isEmpty();
  }

  /** Whether it changes objects; a dry run does not. */
  public boolean write() {
    return !page()
        && !query.containsKey("dryRun")
        && switch (verb) {
          case "create", "update", "patch", "delete" -> true;
          default -> false;
        };
  }

  /** Such as "patch daemonsets.apps default/node status", or "get /apis". */
  @Override
  public String toString() {
    if (page()) {
      return verb + " " + name;
    }
    return "%s %s%s %s%s %s"
        .formatted(
            verb,
            plural,
            group.isEmpty() ? "" : "." + group,
            namespace.isEmpty() ? "" : namespace + "/",
            name,
            subresource)
        .strip();
  }
}
