package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.Optional;

/**
 * One request. NS stands for the namespace; $rv(x) and $uid(x) stand for the resourceVersion and
 * uid in the response that was kept as x.
 *
 * @param operation get, list, create, update, delete, apply, merge, json; watch for a second; or
 *     one that compares nothing: wait for a custom resource definition to be established, gone for
 *     an object to be deleted, ending for it to have a deletion timestamp, single for it to have
 *     one owner, forget to drop the history of the embedded server
 * @param path such as configmaps/a, or an absolute one
 * @param manager "" for none
 * @param query more parameters, such as force=true
 * @param keep the name under which the answer is kept, "" if it is not
 * @param differs why the bodies of the answers may differ, "" if they may not; the status never may
 */
record Step(
    String operation,
    String path,
    String manager,
    String query,
    Optional<JsonNode> body,
    String keep,
    String differs) {

  private static final Map<String, String> BASES =
      Map.ofEntries(
          Map.entry("namespaces", "/api/v1/namespaces"),
          Map.entry("nodes", "/api/v1/nodes"),
          Map.entry("configmaps", "/api/v1/namespaces/NS/configmaps"),
          Map.entry("secrets", "/api/v1/namespaces/NS/secrets"),
          Map.entry("services", "/api/v1/namespaces/NS/services"),
          Map.entry("serviceaccounts", "/api/v1/namespaces/NS/serviceaccounts"),
          Map.entry("persistentvolumeclaims", "/api/v1/namespaces/NS/persistentvolumeclaims"),
          Map.entry("events", "/api/v1/namespaces/NS/events"),
          Map.entry("deployments", "/apis/apps/v1/namespaces/NS/deployments"),
          Map.entry("daemonsets", "/apis/apps/v1/namespaces/NS/daemonsets"),
          Map.entry("statefulsets", "/apis/apps/v1/namespaces/NS/statefulsets"),
          Map.entry("roles", "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles"),
          Map.entry(
              "rolebindings", "/apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings"),
          Map.entry("clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
          Map.entry("leases", "/apis/coordination.k8s.io/v1/namespaces/NS/leases"),
          Map.entry("storageclasses", "/apis/storage.k8s.io/v1/storageclasses"),
          Map.entry("csidrivers", "/apis/storage.k8s.io/v1/csidrivers"),
          Map.entry(
              "poddisruptionbudgets", "/apis/policy/v1beta1/namespaces/NS/poddisruptionbudgets"),
          Map.entry(
              "mutatingwebhookconfigurations",
              "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"),
          Map.entry(
              "customresourcedefinitions",
              "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"),
          Map.entry("widgets", "/apis/NS.example.com/v1/namespaces/NS/widgets"),
          Map.entry("gadgets", "/apis/NS.example.com/v1/gadgets"));

  static Step of(String operation, String path) {
    return new Step(operation, path, "", "", Optional.empty(), "", "");
  }

  String method() {
    return switch (operation) {
      case "get", "list", "watch", "wait", "gone", "ending", "single" -> "GET";
      case "create" -> "POST";
      case "update" -> "PUT";
      case "delete" -> "DELETE";
      case "apply", "merge", "json" -> "PATCH";
      default -> throw new IllegalArgumentException("no such operation: " + operation);
    };
  }

  /** Whether a busy server may send only a part in time. */
  boolean mayBeLate() {
    return operation.equals("watch");
  }

  String contentType() {
    return switch (operation) {
      case "apply" -> "application/apply-patch+yaml";
      case "merge" -> "application/merge-patch+json";
      case "json" -> "application/json-patch+json";
      default -> "application/json";
    };
  }

  /** The address with parameters; names in capitals are not filled in yet. */
  String uri() {
    int slash = path.indexOf('/');
    String first = slash < 0 ? path : path.substring(0, slash);
    String base = BASES.get(first);
    String address = base == null ? path : base + (slash < 0 ? "" : path.substring(slash));
    String parameters = query;
    if (operation.equals("watch")) {
      parameters = "watch=true&timeoutSeconds=1" + (query.isEmpty() ? "" : "&" + query);
    }
    if (!manager.isEmpty()) {
      parameters = "fieldManager=" + manager + (query.isEmpty() ? "" : "&" + query);
    }
    return parameters.isEmpty() ? address : address + "?" + parameters;
  }

  @Override
  public String toString() {
    return (operation
            + " "
            + path
            + " "
            + manager
            + " "
            + query
            + " "
            + body.map(JsonNode::toString).orElse(""))
        .strip();
  }
}
