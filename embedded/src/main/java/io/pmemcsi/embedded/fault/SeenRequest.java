package io.pmemcsi.embedded.fault;

import java.util.Map;

/**
 * A request as the faults and the record of requests see it.
 *
 * @param number counts all requests of a server from 1
 * @param verb in lower case as in RBAC rules: get, list, watch, create, update, patch, delete,
 *     deletecollection
 * @param group "" for the core group
 * @param namespace "" for cluster-scoped resources and all namespaces
 * @param name "" for collections
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

  /** Whether it is meant to change anything; a dry run is not. */
  public boolean write() {
    return !query.containsKey("dryRun")
        && switch (verb) {
          case "create", "update", "patch", "delete", "deletecollection" -> true;
          default -> false;
        };
  }

  /** Such as "patch daemonsets.apps default/node status". */
  @Override
  public String toString() {
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
