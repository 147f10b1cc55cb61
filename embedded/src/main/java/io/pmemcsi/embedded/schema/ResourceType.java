package io.pmemcsi.embedded.schema;

import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.List;
import java.util.Optional;

/**
 * One kind in one version, as the server serves it.
 *
 * @param group "" for the core group
 * @param status whether the status is written through a subresource of its own
 * @param generation whether the server counts changes of the spec
 * @param custom the schema of a custom kind, empty for a built-in one
 */
public record ResourceType(
    String group,
    String version,
    String plural,
    String kind,
    boolean namespaced,
    List<String> shortNames,
    boolean status,
    boolean scale,
    boolean generation,
    Struct type,
    Optional<CustomSchema> custom) {

  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  /** The name used in messages, such as deployments.apps. */
  public String groupResource() {
    return group.isEmpty() ? plural : plural + "." + group;
  }

  /** The kind used in messages, such as Deployment.apps. */
  public String groupKind() {
    return group.isEmpty() ? kind : kind + "." + group;
  }

  /** Whether this is the given built-in kind. */
  public boolean is(String wantedGroup, String wantedPlural) {
    return group.equals(wantedGroup) && plural.equals(wantedPlural);
  }

  public String listKind() {
    return custom.map(CustomSchema::listKind).orElse(kind + "List");
  }
}
