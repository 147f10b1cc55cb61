package io.pmemcsi.operator.controller;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.operator.events.EventMessage;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.time.Instant;
import java.util.List;

/**
 * Tells what was found: in the status, by events and to the metrics.
 *
 * @param <R> the kind of resource
 * @param <S> its status
 * @param <F> what one look at a resource brings to light
 */
public final class StatusPublisher<R extends CustomResource<?, S>, S, F> {

  /** The words of one kind of resource; pure. */
  public interface StatusMapper<S, F> {

    /** Equal to the one before if nothing changed, so that nothing is written. */
    S next(S previous, F found, Instant now);

    /** Which events a change of status is worth. */
    List<EventMessage> announcements(S previous, S next);

    /** Tells one failure from the same failure later on. */
    String occasion(S previous);

    /** For the metrics. */
    String phase(S status);
  }

  private final StatusOverlay<R, S> own = new StatusOverlay<>();
  private final StatusMapper<S, F> wording;
  private final EventWriter events;
  private final OutcomeListener listener;
  private final Clock clock;

  public StatusPublisher(
      StatusMapper<S, F> wording, EventWriter events, OutcomeListener listener, Clock clock) {
    this.wording = wording;
    this.events = events;
    this.listener = listener;
    this.clock = clock;
  }

  /** Tells of something that is no change of the status. */
  public void announce(R resource, EventMessage announcement, String occasion) {
    events.write(resource, announcement, occasion);
  }

  /** A resource out of a cache, with the status that we wrote last where the cache is late. */
  public R newest(R cached, KubernetesClient client) {
    return own.newest(cached, client.getKubernetesSerialization());
  }

  /** For a resource that is gone. */
  public void forget(R resource) {
    own.forget(resource);
  }

  /**
   * Writes events first: repeated after a crash they meet themselves, a status would hide them.
   *
   * @return the resource as the server has it now, or as it was given if nothing had to be written
   */
  public R publish(R resource, F found, KubernetesClient client) {
    R current = newest(resource, client);
    for (int attempt = 0; ; attempt++) {
      S previous = current.getStatus();
      S next = wording.next(previous, found, clock.instant());
      listener.phase(resource, wording.phase(next));
      if (next.equals(previous)) {
        return attempt == 0 ? resource : current;
      }
      for (EventMessage announcement : wording.announcements(previous, next)) {
        announce(resource, announcement, wording.occasion(previous));
      }
      try {
        R copy = client.getKubernetesSerialization().clone(current);
        copy.setStatus(next);
        R written = client.resource(copy).updateStatus();
        own.note(written);
        return written;
      } catch (KubernetesClientException e) {
        if (e.getCode() == HTTP_NOT_FOUND) {
          return resource;
        }
        if (e.getCode() != HTTP_CONFLICT || attempt > 0) {
          throw e;
        }
        R fresh = client.resource(resource).get();
        if (fresh == null
            || !fresh.getMetadata().getUid().equals(resource.getMetadata().getUid())) {
          return resource;
        }
        current = fresh;
      }
    }
  }
}
