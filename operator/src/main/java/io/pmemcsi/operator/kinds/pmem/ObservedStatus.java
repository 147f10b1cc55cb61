package io.pmemcsi.operator.kinds.pmem;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.apply.DriftBackoff;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.controller.ContendedObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What one look at a driver has brought to light, without any times.
 *
 * @param generation of the resource that was looked at
 * @param failure why nothing can go on, and what to do
 * @param conditions those that were looked into; others keep what they said
 * @param components empty if nobody could look
 */
record ObservedStatus(
    long generation,
    Optional<String> failure,
    List<DeploymentCondition> conditions,
    List<DriverComponent> components,
    List<UnpreparedNode> unpreparedNodes,
    Optional<Instant> certificateExpires) {

  /** Shown while somebody else keeps changing objects of the driver. */
  static final String CONTESTED = "Contested";

  static final String TRUE = "True";
  static final String FALSE = "False";

  ObservedStatus {
    conditions = List.copyOf(conditions);
    components = List.copyOf(components);
    unpreparedNodes = List.copyOf(unpreparedNodes);
  }

  static ObservedStatus failed(
      long generation, String reason, List<DeploymentCondition> conditions) {
    return new ObservedStatus(
        generation, Optional.of(reason), conditions, List.of(), List.of(), Optional.empty());
  }

  /** With what runs, too. */
  ObservedStatus with(List<DriverComponent> running, List<UnpreparedNode> unprepared) {
    return new ObservedStatus(
        generation, failure, conditions, running, unprepared, certificateExpires);
  }

  boolean isReady(String component) {
    return components.stream()
        .anyMatch(
            part ->
                part.component().equals(component) && part.status().equals(DriverComponent.READY));
  }

  /** With one more condition. */
  ObservedStatus and(DeploymentCondition condition) {
    var all = new ArrayList<>(conditions);
    all.add(condition);
    return new ObservedStatus(
        generation, failure, all, components, unpreparedNodes, certificateExpires);
  }

  /** The same while objects are on their way out that somebody else still holds. */
  ObservedStatus waitingFor(List<ObjectRef> objects) {
    String held =
        "waiting until %s is deleted: its pods may still terminate, or a finalizer may hold it"
            .formatted(objects.stream().map(ObjectRef::toString).collect(Collectors.joining(", ")));
    return notDeployed(held);
  }

  /** The same while others set objects back each time that we have mended them. */
  ObservedStatus contested(List<DriftBackoff.Contention> disputes) {
    String told = ContendedObject.describe(disputes);
    return notDeployed(told)
        .and(condition(CONTESTED, true, "Another controller changes objects of the driver.", told));
  }

  private ObservedStatus notDeployed(String why) {
    var others =
        conditions.stream()
            .filter(condition -> !condition.type().equals(DeploymentCondition.DRIVER_DEPLOYED))
            .toList();
    return new ObservedStatus(
            generation, failure, others, components, unpreparedNodes, certificateExpires)
        .and(condition(DeploymentCondition.DRIVER_DEPLOYED, false, why));
  }

  /** Why not all objects are there, if so. */
  Optional<String> notDeployed() {
    return conditions.stream()
        .filter(condition -> condition.type().equals(DeploymentCondition.DRIVER_DEPLOYED))
        .filter(condition -> condition.status().equals(FALSE))
        .map(condition -> String.valueOf(condition.reason()))
        .findFirst();
  }

  /** Whether pods are on their way which may yet meet trouble. */
  boolean awaitsPods() {
    return components.stream().anyMatch(Components::awaitsPods);
  }

  static DeploymentCondition condition(String type, boolean status, String reason) {
    return new DeploymentCondition(type, status ? TRUE : FALSE, reason, null, null);
  }

  static DeploymentCondition condition(String type, boolean status, String reason, String message) {
    return new DeploymentCondition(type, status ? TRUE : FALSE, reason, message, null);
  }
}
