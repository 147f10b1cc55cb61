package io.pmemcsi.driver.csi;

import csi.v1.Topology;
import io.pmemcsi.base.names.DriverName;

/** This node as Kubernetes knows it; volumes never leave it. */
public record NodeIdentity(DriverName driver, String nodeId) {

  public NodeIdentity {
    if (nodeId.isBlank()) {
      throw new IllegalArgumentException("the node id is empty");
    }
  }

  Topology topology() {
    return Topology.newBuilder().putSegments(driver.topologyKey(), nodeId).build();
  }

  /** Whether a requested topology includes this node. */
  boolean isIn(Topology place) {
    return nodeId.equals(place.getSegmentsOrDefault(driver.topologyKey(), nodeId));
  }
}
