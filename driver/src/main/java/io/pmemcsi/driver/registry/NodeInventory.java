package io.pmemcsi.driver.registry;

import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/** Which nodes have the driver or its volumes, whether they are registered at the moment or not. */
@FunctionalInterface
public interface NodeInventory {

  /** Without a cluster: only nodes that have registered are known. */
  NodeInventory NONE = Set::of;

  /**
   * The names of the nodes.
   *
   * @throws IOException if they cannot be read
   */
  Set<String> nodes() throws IOException;

  /**
   * Those of the given nodes that are deleted, in contrast to nodes without the driver at the
   * moment.
   *
   * @throws IOException if that cannot be read
   */
  default Set<String> deleted(Collection<String> candidates) throws IOException {
    Set<String> deleted = new HashSet<>(candidates);
    deleted.removeAll(nodes());
    return deleted;
  }
}
