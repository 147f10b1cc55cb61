package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.pmemcsi.operator.apply.Cluster;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.DriftBackoff;
import io.pmemcsi.operator.apply.Engine;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.controller.Problem.Cause;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.facts.RequeuePeriods;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries decisions out with the apply engine, and states what is in the way. */
final class Actions<R extends HasMetadata> {

  private static final Logger LOG = LoggerFactory.getLogger(Actions.class);

  private final KindTraits<R> traits;
  private final NotOwnedObjects notOwned;
  private final BiFunction<R, RefusedObjectException, String> refusals;
  private final OutcomeListener listener;
  private final DriftBackoff backoff;

  /** Resources for which the objects of earlier releases were pruned; one search is enough. */
  private final Set<String> searchedForLegacy = ConcurrentHashMap.newKeySet();

  Actions(
      KindTraits<R> traits,
      NotOwnedObjects notOwned,
      BiFunction<R, RefusedObjectException, String> refusals,
      OutcomeListener listener,
      Clock clock) {
    this.traits = traits;
    this.notOwned = notOwned;
    this.refusals = refusals;
    this.listener = listener;
    this.backoff = new DriftBackoff(clock);
  }

  /**
   * What became of an action.
   *
   * @param outcome empty if the server refused
   * @param problem why the objects are not as desired
   */
  record Result(Optional<Outcome> outcome, Optional<Problem> problem) {}

  /**
   * Applies or restores objects.
   *
   * @param held whether the resource is deleted while volumes need its driver
   */
  Result perform(R resource, Plan.Action action, boolean held, CachedReader<R> cluster) {
    return switch (action) {
      case Plan.Action.Apply apply ->
          guarded(resource, held, () -> apply(resource, apply, cluster));
      case Plan.Action.Block block ->
          block
              .restore()
              .or(block::overwrite)
              .map(
                  object -> guarded(resource, held, () -> repair(resource, block, object, cluster)))
              .orElseGet(() -> new Result(Optional.empty(), Optional.of(block.problem())));
    };
  }

  Outcome remove(R resource, CachedReader<R> cluster) {
    Outcome outcome = engine(cluster.context()).remove(Owner.of(resource), cluster.cluster());
    listener.applied(resource, outcome);
    if (outcome.complete()) {
      LOG.atInfo()
          .addKeyValue("resource", ObjectRef.of(resource))
          .addKeyValue("removed", outcome.pruned().size())
          .log("Driver removed.");
    }
    return outcome;
  }

  void release(R resource, CachedReader<R> cluster) {
    engine(cluster.context()).release(Owner.of(resource), cluster.cluster());
  }

  void forget(R resource) {
    searchedForLegacy.remove(resource.getMetadata().getUid());
    backoff.forget(Owner.of(resource));
  }

  static Problem waiting(List<ObjectRef> objects) {
    return new Problem(
        Cause.WAITING,
        "waiting until %s is deleted: its pods may still terminate, or a finalizer may hold it"
            .formatted(
                objects.stream().map(ObjectRef::toString).collect(Collectors.joining(", "))));
  }

  private Result apply(R resource, Plan.Action.Apply action, CachedReader<R> cluster) {
    var owner = Owner.of(resource);
    boolean searched = searchedForLegacy.contains(owner.uid());
    Outcome outcome =
        engine(cluster.context())
            .apply(
                owner,
                searched ? action.desired().withoutLegacyObjects() : action.desired(),
                action.dryRun(),
                backingOff(resource, cluster));
    listener.applied(resource, outcome);
    if (traits.subResourceMetrics()) {
      listener.ownedObjects(resource, cluster.cluster().ownedBy(owner));
    }
    if (outcome.changedSomething()) {
      LOG.atInfo()
          .addKeyValue("resource", ObjectRef.of(resource))
          .addKeyValue("applied", outcome.applied().size())
          .addKeyValue("recreated", outcome.recreated().size())
          .addKeyValue("pruned", outcome.pruned().size())
          .log("Objects applied.");
    }
    Optional<Problem> problem = problem(resource, action.desired(), outcome, cluster);
    if (outcome.conflicts().isEmpty()) {
      searchedForLegacy.add(owner.uid());
    }
    return new Result(Optional.of(outcome), problem);
  }

  private Optional<Problem> problem(
      R resource, DesiredState desired, Outcome outcome, CachedReader<R> cluster) {
    if (!outcome.conflicts().isEmpty()) {
      return Optional.of(notOwned(resource, desired, outcome, cluster));
    }
    if (!outcome.complete()) {
      return Optional.of(waiting(outcome.pending()));
    }
    List<DriftBackoff.Contention> contended = backoff.contentions(Owner.of(resource));
    return contended.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Problem(
                Cause.CONTENDED,
                ContendedObject.describe(contended),
                Optional.of(RequeuePeriods.DEFAULT.contended())));
  }

  private Result repair(
      R resource, Plan.Action.Block block, HasMetadata object, CachedReader<R> cluster) {
    Problem problem = block.problem();
    var owner = Owner.of(resource);
    Outcome outcome =
        block.restore().isPresent()
            ? engine(cluster.context()).restore(owner, object, backingOff(resource, cluster))
            : engine(cluster.context()).overwrite(owner, object, backingOff(resource, cluster));
    listener.applied(resource, outcome);
    Problem all =
        outcome.conflicts().isEmpty()
            ? problem
            : new Problem(
                problem.cause(),
                problem.message()
                    + "\n"
                    + notOwned(resource, DesiredState.of(List.of(object)), outcome, cluster)
                        .message(),
                problem.requeueAfter());
    return new Result(Optional.of(outcome), Optional.of(all));
  }

  private Problem notOwned(
      R resource, DesiredState desired, Outcome outcome, CachedReader<R> cluster) {
    return new Problem(
        Cause.NOT_OWNED,
        notOwned.describe(resource, outcome.conflicts(), desired, cluster.client()));
  }

  /** Turns a refusal into a problem, so that the rollout goes on; other errors are retried. */
  private Result guarded(R resource, boolean held, Supplier<Result> action) {
    try {
      return action.get();
    } catch (RefusedObjectException e) {
      return refused(
          new Problem(
              Cause.REFUSED,
              refusals.apply(resource, e),
              Optional.of(RequeuePeriods.DEFAULT.refused())));
    } catch (KubernetesClientException e) {
      if (held && Failures.isNamespaceTerminating(e)) {
        return refused(namespaceTerminating(resource));
      }
      if (Failures.isRefusal(e)) {
        LOG.atWarn()
            .addKeyValue("resource", ObjectRef.of(resource))
            .addKeyValue("cause", Refusal.reason(e))
            .log("The API server refuses an object.");
        return refused(Failures.serverError(e));
      }
      throw e;
    }
  }

  private static Result refused(Problem problem) {
    return new Result(Optional.empty(), Optional.of(problem));
  }

  private static Problem namespaceTerminating(HasMetadata resource) {
    return new Problem(
        Cause.NAMESPACE_TERMINATING,
        ("the namespace %s is being deleted: Kubernetes deletes the driver's pods although volumes"
                + " need them, and does not allow new ones. Delete the volumes by hand on their"
                + " nodes, and then their PersistentVolumes; or force the deletion")
            .formatted(resource.getMetadata().getNamespace()));
  }

  private Cluster backingOff(R resource, CachedReader<R> cluster) {
    return backoff.wrap(
        cluster.cluster(),
        Owner.of(resource),
        resource.getMetadata().getGeneration(),
        traits.fieldManager(),
        cluster.client().getKubernetesSerialization());
  }

  private Engine engine(Context<R> context) {
    return new Engine(
        traits.owned().ownership(),
        traits.fieldManager(),
        traits.labelRetention(),
        context.getClient().getKubernetesSerialization());
  }
}
