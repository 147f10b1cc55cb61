package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.pmemdriver.PmemCondition.CONTESTED;
import static io.pmemcsi.operator.pmemdriver.PmemCondition.DELETION_HELD;
import static io.pmemcsi.operator.pmemdriver.PmemCondition.DRIVER_DEPLOYED;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.LostNode;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.StatusUpdate;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What one reconciliation observed, without any times.
 *
 * @param generation of the resource that was observed
 * @param failure why the driver cannot be deployed, and what to do
 * @param conditions those that were observed; others stay as they are
 * @param components empty if they could not be observed
 * @param lostNodes empty if they were not observed
 * @param mode what the operator does with the objects
 */
public record ObservedStatus(
    long generation,
    Optional<String> failure,
    List<DeploymentCondition> conditions,
    List<ComponentState> components,
    List<UnpreparedNode> unpreparedNodes,
    Optional<List<LostNode>> lostNodes,
    Optional<Instant> certificateExpires,
    Mode mode)
    implements StatusUpdate<PmemCSIDeploymentStatus> {

  /** What the operator does with the objects of a resource. */
  enum Mode {
    MANAGED,
    UNMANAGED,
    /** The resource was deleted. */
    TERMINATING
  }

  public ObservedStatus {
    conditions = List.copyOf(conditions);
    components = List.copyOf(components);
    unpreparedNodes = List.copyOf(unpreparedNodes);
  }

  @Override
  public PmemCSIDeploymentStatus next(PmemCSIDeploymentStatus previous, Instant now) {
    return PmemStatusMapper.next(previous, this, now);
  }

  /**
   * The status of a driver with or without a problem.
   *
   * @param decided conditions that were known when the driver was deployed
   */
  public static ObservedStatus of(
      long generation,
      List<DeploymentCondition> decided,
      Optional<Instant> certificateExpires,
      RunningDriver running,
      Optional<Problem> problem) {
    Optional<String> failure = problem.filter(ObservedStatus::isFailure).map(Problem::message);
    return new ObservedStatus(
        generation,
        failure,
        Stream.concat(decided.stream(), deployed(problem)).toList(),
        running.components(),
        running.unpreparedNodes(),
        Optional.empty(),
        certificateExpires,
        Mode.MANAGED);
  }

  /** The status of a driver whose objects are left alone. */
  static ObservedStatus unmanaged(
      long generation,
      Optional<Instant> certificateExpires,
      Optional<DeploymentCondition> nodesExclusive,
      RunningDriver running) {
    return new ObservedStatus(
        generation,
        Optional.empty(),
        nodesExclusive.stream().toList(),
        running.components(),
        running.unpreparedNodes(),
        Optional.empty(),
        certificateExpires,
        Mode.UNMANAGED);
  }

  private static Stream<DeploymentCondition> deployed(Optional<Problem> problem) {
    if (problem.isEmpty()) {
      return Stream.of(DRIVER_DEPLOYED.isTrue("Driver deployed successfully."));
    }
    String message = problem.get().message();
    DeploymentCondition notDeployed = DRIVER_DEPLOYED.isFalse(message);
    return problem.get().cause() == Problem.Cause.CONTENDED
        ? Stream.of(
            notDeployed,
            CONTESTED.isTrue("Another controller changes objects of the driver.", message))
        : Stream.of(notDeployed);
  }

  /** Other problems end without a change of the resource. */
  private static boolean isFailure(Problem problem) {
    return switch (problem.cause()) {
      case WAITING, CONTENDED -> false;
      case INVALID,
          CERTIFICATES,
          CONFLICT,
          DRIVER_IN_USE,
          NOT_OWNED,
          REFUSED,
          NAMESPACE_TERMINATING,
          SERVER_ERROR,
          OPERATOR_ERROR ->
          true;
    };
  }

  /** The same of a resource whose deletion is blocked. */
  public ObservedStatus held(Hold hold) {
    return with(DELETION_HELD.isTrue(Hold.REASON, hold.message())).removing();
  }

  /** The same of a resource that was deleted. */
  public ObservedStatus removing() {
    return new ObservedStatus(
        generation,
        failure,
        conditions,
        components,
        unpreparedNodes,
        lostNodes,
        certificateExpires,
        Mode.TERMINATING);
  }

  /**
   * With the nodes that do not exist any more.
   *
   * @param notReleased why volumes could not be released
   */
  ObservedStatus withLost(LostNodes lost, List<String> notReleased) {
    return new ObservedStatus(
        generation,
        failure,
        Stream.concat(conditions.stream(), LostNodes.condition(lost.report(), notReleased).stream())
            .toList(),
        components,
        unpreparedNodes,
        Optional.of(lost.report()),
        certificateExpires,
        mode);
  }

  /** With one more condition. */
  ObservedStatus with(DeploymentCondition condition) {
    return new ObservedStatus(
        generation,
        failure,
        Stream.concat(conditions.stream(), Stream.of(condition)).toList(),
        components,
        unpreparedNodes,
        lostNodes,
        certificateExpires,
        mode);
  }

  /** What blocks the deletion, if so. */
  Optional<String> deletionHeld() {
    return conditions.stream()
        .filter(condition -> condition.type().equals(DELETION_HELD.type()))
        .map(condition -> String.valueOf(condition.message()))
        .findFirst();
  }

  /** Why not all objects are applied, if so. */
  Optional<String> notDeployed() {
    return conditions.stream()
        .filter(DRIVER_DEPLOYED::isFalse)
        .map(condition -> String.valueOf(condition.reason()))
        .findFirst();
  }
}
