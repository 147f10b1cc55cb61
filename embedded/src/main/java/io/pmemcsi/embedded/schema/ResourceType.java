package io.pmemcsi.embedded.schema;

import io.pmemcsi.embedded.schema.Type.Struct;
import java.util.Optional;

/**
 * One kind in one version.
 *
 * @param group "" for the core group
 * @param status whether the kind has a status subresource
 * @param generation whether the server counts changes of the spec
 * @param custom the schema of a custom kind, empty for a built-in one
 */
public record ResourceType(
    String group,
    String version,
    String plural,
    String kind,
    boolean namespaced,
    boolean status,
    boolean generation,
    Struct type,
    Optional<CustomSchema> custom) {

  public String apiVersion() {
    return group.isEmpty() ? version : group + "/" + version;
  }

  /** The qualified plural, such as deployments.apps. */
  public String groupResource() {
    return group.isEmpty() ? plural : plural + "." + group;
  }

  /** Whether this is the given kind, in any version. */
  public boolean is(String otherGroup, String otherPlural) {
    return group.equals(otherGroup) && plural.equals(otherPlural);
  }
}
