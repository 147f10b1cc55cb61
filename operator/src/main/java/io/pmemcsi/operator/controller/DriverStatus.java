package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.client.CustomResource;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.time.Instant;
import java.util.Optional;

/**
 * How a kind reports in the status of a resource what was decided and what runs. Nothing here
 * writes to the cluster.
 *
 * @param <R> the resource
 * @param <S> its status
 * @param <P> the decision
 * @param <W> what runs after the decision was carried out
 */
public interface DriverStatus<R extends CustomResource<?, S>, S, P extends Plan<R>, W> {

  StatusMapper<S> mapper();

  StatusUpdate<S> deployed(
      R resource, P plan, W running, Optional<Problem> problem, Optional<Hold> hold);

  /** For a resource that is not managed; only a kind that has such resources implements it. */
  default StatusUpdate<S> unmanaged(R resource, ClusterReader<R> cluster) {
    throw new IllegalStateException("every %s is managed".formatted(resource.getKind()));
  }

  /**
   * While the objects are being removed.
   *
   * @param problem what delays that
   */
  StatusUpdate<S> removing(R resource, Optional<Problem> problem);

  /** After an error; reads nothing but caches, because the server may be what failed. */
  StatusUpdate<S> failed(R resource, Problem problem, ClusterReader<R> cluster);

  /** Since when the status shows a problem. */
  Optional<Instant> problemSince(S status);
}
