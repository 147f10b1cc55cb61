package io.pmemcsi.operator.controller;

import java.time.Instant;

/**
 * What was observed, to be merged into a status; pure.
 *
 * @param <S> the status
 */
@FunctionalInterface
public interface StatusUpdate<S> {

  /** Equal to the previous status if nothing changed, so that nothing is written. */
  S next(S previous, Instant now);
}
