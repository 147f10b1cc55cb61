package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.pmemdriver.PmemCondition.CONTESTED;
import static io.pmemcsi.operator.pmemdriver.PmemCondition.DELETION_HELD;
import static io.pmemcsi.operator.pmemdriver.PmemCondition.DRIVER_DEPLOYED;

import io.pmemcsi.api.pmem.DeploymentCondition;
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
 */
public record ObservedStatus(
    long generation,
    Optional<String> failure,
    List<DeploymentCondition> conditions,
    List<ComponentState> components,
    List<UnpreparedNode> unpreparedNodes,
    Optional<Instant> certificateExpires)
    implements StatusUpdate<PmemCSIDeploymentStatus> {

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
   * @param certificates conditions of the certificates
   */
  public static ObservedStatus of(
      long generation,
      List<DeploymentCondition> certificates,
      Optional<Instant> certificateExpires,
      RunningDriver running,
      Optional<Problem> problem) {
    Optional<String> failure = problem.filter(ObservedStatus::isFailure).map(Problem::message);
    return new ObservedStatus(
        generation,
        failure,
        Stream.of(certificates.stream(), deployed(problem), running.nodesExclusive().stream())
            .flatMap(conditions -> conditions)
            .toList(),
        running.components(),
        running.unpreparedNodes(),
        certificateExpires);
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

  /** The others pass by themselves. */
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
    return with(DELETION_HELD.isTrue(Hold.REASON, hold.message()));
  }

  /** With one more condition. */
  ObservedStatus with(DeploymentCondition condition) {
    return new ObservedStatus(
        generation,
        failure,
        Stream.concat(conditions.stream(), Stream.of(condition)).toList(),
        components,
        unpreparedNodes,
        certificateExpires);
  }

  /** Why not all objects are applied, if so. */
  Optional<String> notDeployed() {
    return conditions.stream()
        .filter(DRIVER_DEPLOYED::isFalse)
        .map(condition -> String.valueOf(condition.reason()))
        .findFirst();
  }
}
