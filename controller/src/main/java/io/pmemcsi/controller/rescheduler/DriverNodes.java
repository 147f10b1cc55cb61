package io.pmemcsi.controller.rescheduler;

import io.pmemcsi.base.names.DriverName;
import java.util.Map;

/**
 * A driver and the nodes on which it is meant to run.
 *
 * @param nodeSelector labels of these nodes
 */
public record DriverNodes(DriverName driver, Map<String, String> nodeSelector) {

  public DriverNodes {
    nodeSelector = Map.copyOf(nodeSelector);
  }
}
