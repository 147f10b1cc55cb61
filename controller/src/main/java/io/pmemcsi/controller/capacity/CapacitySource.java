package io.pmemcsi.controller.capacity;

import java.time.Instant;
import java.util.Optional;

/** Where the capacity of nodes comes from, updated in the background. */
public interface CapacitySource extends NodeCapacities.Freshness, AutoCloseable {

  /** Why the capacity of nodes is not known yet; empty if it is. */
  Optional<String> notReady();

  /** Called every second. */
  void tick(Instant now);

  /** The capacity of the node has changed. */
  void refresh(String node);

  @Override
  void close();
}
