package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.operator.controller.Plan;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.facts.RequeuePeriods;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What was decided about a resource that describes a PMEM-CSI driver.
 *
 * @param driver empty for a resource that is invalid
 * @param observed what the decision depended on
 * @param lostNodes the decision about nodes that do not exist any more; empty if they were not
 *     observed
 */
public record PmemPlan<R extends HasMetadata>(
    Action action,
    Optional<PmemModel> driver,
    PmemCertificates.Prepared certificates,
    DriverObservation observed,
    Optional<LostNodes> lostNodes)
    implements Plan<R> {

  /** Without a search for lost nodes. */
  public PmemPlan(
      Action action,
      Optional<PmemModel> driver,
      PmemCertificates.Prepared certificates,
      DriverObservation observed) {
    this(action, driver, certificates, observed, Optional.empty());
  }

  /**
   * The plan for a resource without violations and blockers, else the problem.
   *
   * @param violations those that apply to this cluster
   * @param blocker another resource that has the driver, or volumes of a driver that the resource
   *     no longer names
   * @param blocked decides about a resource with a problem
   * @param valid decides about a valid resource; throws IllegalArgumentException if values do not
   *     fit together
   */
  public static <R extends HasMetadata> PmemPlan<R> of(
      List<Violation> violations,
      Optional<Problem> blocker,
      Function<Problem, PmemPlan<R>> blocked,
      Supplier<PmemPlan<R>> valid) {
    if (!violations.isEmpty()) {
      return blocked.apply(
          new Problem(
              Cause.INVALID,
              violations.stream().map(Violation::message).collect(Collectors.joining("; "))));
    }
    if (blocker.isPresent()) {
      return blocked.apply(blocker.get());
    }
    try {
      return valid.get();
    } catch (IllegalArgumentException e) {
      return blocked.apply(new Problem(Cause.INVALID, String.valueOf(e.getMessage())));
    }
  }

  /** The plan for a resource whose objects stay as they are. */
  public static <R extends HasMetadata> PmemPlan<R> blocked(
      Problem problem, DriverObservation observed) {
    return new PmemPlan<>(
        new Action.Block(problem), Optional.empty(), PmemCertificates.Prepared.NOTHING, observed);
  }

  /** When certificates have to be renewed or checked again, or lost nodes to be observed again. */
  Optional<Duration> requeueAfter() {
    return Stream.concat(
            certificates
                .due()
                .map(due -> RequeuePeriods.DEFAULT.until(due, observed.now()))
                .stream(),
            lostNodes
                .filter(lost -> !lost.report().isEmpty())
                .map(_ -> RequeuePeriods.DEFAULT.nodes())
                .stream())
        .min(Duration::compareTo);
  }

  List<DeploymentCondition> conditions() {
    return Stream.concat(certificates.conditions().stream(), observed.nodesExclusive().stream())
        .toList();
  }
}
