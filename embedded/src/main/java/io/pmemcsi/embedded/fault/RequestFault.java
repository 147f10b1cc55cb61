package io.pmemcsi.embedded.fault;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** What goes wrong with a request. */
public sealed interface RequestFault {
  /** Nothing goes wrong. */
  RequestFault NONE = new Delay(Duration.ZERO);

  /** When it goes wrong, seen from the change that the request is about. */
  enum Moment {
    BEFORE,
    AFTER
  }

  /** An error status is answered. */
  record Fail(int code, Moment moment) implements RequestFault {
    public Fail {
      if (code < 400 || code > 599) {
        throw new IllegalArgumentException("not an HTTP error status: " + code);
      }
    }
  }

  /** The connection is cut without an answer. */
  record Cut(Moment moment) implements RequestFault {}

  /** The request is carried out late, or at once and answered late. */
  record Delay(Duration duration, Moment moment) implements RequestFault {
    public Delay(Duration duration) {
      this(duration, Moment.BEFORE);
    }
  }

  /**
   * The request is carried out at once, and answered when somebody says so; a watch only begins
   * then.
   */
  record Hold(CountDownLatch until) implements RequestFault {}

  /** A get or list is answered from the past. */
  record Stale(int changes) implements RequestFault {
    public Stale {
      if (changes < 1) {
        throw new IllegalArgumentException("stale by at least one change, not " + changes);
      }
    }
  }
}
