package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.operator.apply.DesiredState;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.facts.ClusterFacts;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a kind of resource plugs into {@link DriverReconciler}. The methods are called in the order
 * in which they stand here.
 *
 * @param <R> the resource
 * @param <S> its status
 * @param <O> what a decision depends on
 * @param <P> the decision
 * @param <W> what runs after the decision was carried out
 */
public interface DriverKind<R extends CustomResource<?, S>, S, O, P extends Plan<R>, W> {

  KindTraits<R> traits();

  // without a cluster

  /**
   * The objects of a resource without violations, as far as they are known without a cluster.
   *
   * @throws IllegalArgumentException if values do not fit together
   */
  DesiredState render(R resource, ClusterFacts facts);

  /** A resource that needs every permission that any resource of this kind may need. */
  R withEveryFeature();

  /** The name of the CSI driver as the resource has it, correct or not. */
  Optional<String> driverName(R resource);

  // observe

  /** Further watches, beside those of the owned objects. */
  List<EventSource<?, R>> eventSources(EventSourceContext<R> context, Consumer<ResourceID> requeue);

  /** Whether the operator may change the objects of the resource. */
  default boolean isManaged(R resource) {
    return true;
  }

  DeletionGuard guard();

  @Nullable String deletionPolicy(R resource);

  /** An object that every release creates first, with its name and namespace. */
  HasMetadata anchor(R resource);

  /** The names of the CSI drivers that end with the resource. */
  Collection<String> installedDrivers(R resource, ClusterReader<R> cluster);

  /** Reads everything that the decision depends on, once. */
  O observe(R resource, ClusterReader<R> cluster);

  // decide

  /** Pure: the same observation leads to the same decision. */
  P decide(R resource, O observed);

  // act

  /**
   * Continues the rollout of what was applied, and observes what runs.
   *
   * @param problem why the decision could not be carried out
   */
  W rollOut(R resource, P plan, Optional<Problem> problem, ClusterReader<R> cluster);

  /** Ends a rollout: the resource is deleted or no longer managed. */
  default void endRollout(R resource) {}

  /** How soon to reconcile again although there is no problem. */
  Optional<Duration> requeueAfter(P plan, W running);

  // report: nothing below writes to the cluster

  DriverStatus<R, S, P, W> status();

  /** Which fields of the resource led to an object that the server refuses. */
  String describe(R resource, RefusedObjectException refusal);

  /** The resource does not exist any more. */
  void forget(R resource);
}
