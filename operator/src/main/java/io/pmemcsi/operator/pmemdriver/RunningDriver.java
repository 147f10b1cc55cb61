package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.facts.RequeuePeriods;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;

/**
 * What runs of a driver.
 *
 * @param components empty if they could not be observed
 * @param unpreparedNodes on which the driver is ready but finds no memory
 * @param notReleased why volumes of lost nodes could not be released
 */
public record RunningDriver(
    List<ComponentState> components,
    List<UnpreparedNode> unpreparedNodes,
    List<String> notReleased) {

  public RunningDriver {
    components = List.copyOf(components);
    unpreparedNodes = List.copyOf(unpreparedNodes);
    notReleased = List.copyOf(notReleased);
  }

  public RunningDriver(List<ComponentState> components, List<UnpreparedNode> unpreparedNodes) {
    this(components, unpreparedNodes, List.of());
  }

  boolean isReady(String component) {
    return components.stream().anyMatch(one -> one.is(component) && one.isReady());
  }

  boolean nodesAreReady() {
    return isReady(DriverComponent.NODE);
  }

  RunningDriver with(List<UnpreparedNode> unprepared) {
    return new RunningDriver(components, unprepared, notReleased);
  }

  public RunningDriver withNotReleased(List<String> failures) {
    return new RunningDriver(components, unpreparedNodes, failures);
  }

  /** The same of a driver that cannot be used on some nodes although its pods are ready. */
  RunningDriver notRegisteredOn(SortedSet<String> nodes) {
    return withNodes(ComponentState.notRegisteredOn(nodes));
  }

  /** The same of a driver that cannot create volumes on some nodes. */
  RunningDriver notRegisteredWithController(SortedSet<String> nodes) {
    return withNodes(ComponentState.notRegisteredWithController(nodes));
  }

  private RunningDriver withNodes(ComponentState state) {
    return new RunningDriver(
        components.stream().map(one -> one.is(DriverComponent.NODE) ? state : one).toList(),
        unpreparedNodes,
        notReleased);
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
