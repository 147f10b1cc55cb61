package io.pmemcsi.embedded.fault;

import java.time.Duration;

/** What goes wrong with a watch event. */
public sealed interface EventFault {
  /** Nothing goes wrong. */
  EventFault NONE = new Delay(Duration.ZERO);

  /** The event never arrives. */
  record Drop() implements EventFault {}

  /** The event arrives twice. */
  record Duplicate() implements EventFault {}

  /** The event arrives after the next one. */
  record HoldBack() implements EventFault {}

  /** The event, and everything after it, comes late. */
  record Delay(Duration duration) implements EventFault {}

  /** The watch ends in the middle of the event. */
  record Cut() implements EventFault {}
}
