package io.pmemcsi.operator.controller;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How a status is reported beside being written; pure.
 *
 * @param <S> the status
 */
public interface StatusMapper<S> {

  /** Whether the driver can be used according to the status. */
  Readiness readiness(S status);

  /**
   * The status with the condition {@code Ready}.
   *
   * @param generation of the resource that was observed
   */
  S withReady(S status, Readiness readiness, long generation, Instant now);

  /** The events that a change of the status raises. */
  List<EventMessage> events(S previous, S next);

  /** Distinguishes one failure from the same failure later on. */
  String dedupKey(S previous);

  /** For the metrics. */
  String phase(S status);

  /** When the certificates in use expire, for the metrics. */
  default Optional<Instant> certificateExpires(S status) {
    return Optional.empty();
  }
}
