package io.pmemcsi.operator.controller;

import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.PrimaryUpdateAndCacheUtils;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.NoSuchElementException;

/**
 * Reports what was observed: in the status, by events and to the metrics.
 *
 * @param <R> the resource
 * @param <S> its status
 */
final class StatusReporter<R extends CustomResource<?, S>, S> {

  private final StatusMapper<S> mapper;
  private final EventWriter events;
  private final OutcomeListener listener;
  private final OwnWrites<R> writes;
  private final Clock clock;

  StatusReporter(
      StatusMapper<S> mapper,
      EventWriter events,
      OutcomeListener listener,
      OwnWrites<R> writes,
      Clock clock) {
    this.mapper = mapper;
    this.events = events;
    this.listener = listener;
    this.writes = writes;
    this.clock = clock;
  }

  /** Reports what happened, which is no change of the status. */
  void emit(R resource, List<EventMessage> messages) {
    String generation = String.valueOf(resource.getMetadata().getGeneration());
    messages.forEach(message -> events.write(resource, message, generation));
  }

  /**
   * Writes the status where it changed. The written resource goes to JOSDK's cache: the informer
   * may lag our own status writes, and comparing with it would lose or repeat updates.
   *
   * @return the resource as the server has it now
   */
  R report(R resource, StatusUpdate<S> update, Context<R> context) {
    S next = next(resource, resource.getStatus(), update);
    if (next.equals(resource.getStatus())) {
      listener.status(resource, mapper.phase(next), mapper.certificateExpires(next));
      return resource;
    }
    try {
      R written =
          PrimaryUpdateAndCacheUtils.updateStatusAndCacheResource(
              resource, context, current -> reported(current, resource, update, context));
      writes.record(written);
      return written;
    } catch (KubernetesClientException e) {
      if (e.getCode() == HTTP_NOT_FOUND) {
        return resource;
      }
      throw e;
    } catch (NoSuchElementException e) {
      // thrown by JOSDK after a conflict if the resource was deleted
      return resource;
    }
  }

  private S next(R resource, S previous, StatusUpdate<S> update) {
    Instant now = clock.instant();
    S next = update.next(previous, now);
    Readiness readiness = mapper.readiness(next);
    return mapper.withReady(
        next,
        resource.isMarkedForDeletion() ? readiness.inDeletion() : readiness,
        resource.getMetadata().getGeneration(),
        now);
  }

  /**
   * Events first: their names are deterministic, so a retry gets 409; a status written first would
   * suppress them.
   *
   * @param current another version of the resource, after a conflict
   */
  private R reported(R current, R resource, StatusUpdate<S> update, Context<R> context) {
    if (!current.getMetadata().getUid().equals(resource.getMetadata().getUid())) {
      throw new KubernetesClientException("recreated", HTTP_NOT_FOUND, null);
    }
    S previous = current.getStatus();
    S next = next(resource, previous, update);
    listener.status(resource, mapper.phase(next), mapper.certificateExpires(next));
    for (EventMessage message : mapper.events(previous, next)) {
      events.write(resource, message, mapper.dedupKey(previous));
    }
    R copy = context.getClient().getKubernetesSerialization().clone(current);
    copy.setStatus(next);
    return copy;
  }
}
