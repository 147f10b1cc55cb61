package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.controller.RequeuePeriods;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What runs of a driver.
 *
 * @param components empty if they could not be observed
 * @param unpreparedNodes on which the driver is ready but finds no memory
 * @param nodesExclusive whether another driver shares nodes, where that was ever so
 */
public record RunningDriver(
    List<ComponentState> components,
    List<UnpreparedNode> unpreparedNodes,
    Optional<DeploymentCondition> nodesExclusive) {

  public RunningDriver {
    components = List.copyOf(components);
    unpreparedNodes = List.copyOf(unpreparedNodes);
  }

  boolean isReady(String component) {
    return components.stream().anyMatch(one -> one.is(component) && one.isReady());
  }

  boolean nodesAreReady() {
    return isReady(DriverComponent.NODE);
  }

  RunningDriver with(List<UnpreparedNode> unprepared) {
    return new RunningDriver(components, unprepared, nodesExclusive);
  }

  /** When to observe again what no event reports. */
  public Optional<Duration> requeueAfter() {
    if (components.stream().anyMatch(ComponentState::awaitsPods)) {
      return Optional.of(RequeuePeriods.DEFAULT.pods());
    }
    return unpreparedNodes.isEmpty()
        ? Optional.empty()
        : Optional.of(RequeuePeriods.DEFAULT.nodes());
  }
}
