package io.pmemcsi.embedded.fault;

import java.time.Duration;

/** A fault of a watch event. */
public sealed interface EventFault {
  /** No fault. */
  EventFault NONE = new Delay(Duration.ZERO);

  /** The event never arrives. */
  record Drop() implements EventFault {}

  /** The event arrives twice. */
  record Duplicate() implements EventFault {}

  /** The event arrives after the next one. */
  record HoldBack() implements EventFault {}

  /** The event and all later ones are delayed. */
  record Delay(Duration duration) implements EventFault {}

  /** The connection is cut instead of sending the event. */
  record Cut() implements EventFault {}
}
