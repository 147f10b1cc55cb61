package io.pmemcsi.operator.controller;

import java.util.List;

/**
 * How a status is reported beside being written; pure.
 *
 * @param <S> the status
 */
public interface StatusMapper<S> {

  /** The events that a change of the status raises. */
  List<EventMessage> events(S previous, S next);

  /** Distinguishes one failure from the same failure later on. */
  String dedupKey(S previous);

  /** For the metrics. */
  String phase(S status);
}
