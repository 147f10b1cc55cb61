package io.pmemcsi.embedded.fault;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A fault of a request. */
public sealed interface RequestFault {
  /** No fault. */
  RequestFault NONE = new Delay(Duration.ZERO);

  /** Whether the fault happens before or after the change that the client requested. */
  enum Moment {
    BEFORE,
    AFTER
  }

  /** The response is an error status. */
  record Fail(int code, Moment moment) implements RequestFault {
    public Fail {
      if (code < 400 || code > 599) {
        throw new IllegalArgumentException("not an HTTP error status: " + code);
      }
    }
  }

  /** The connection is cut without a response. */
  record Cut(Moment moment) implements RequestFault {}

  /** The request is carried out late, or the response is late. */
  record Delay(Duration duration, Moment moment) implements RequestFault {
    public Delay(Duration duration) {
      this(duration, Moment.BEFORE);
    }
  }

  /**
   * The request is carried out immediately; the response, or the start of a watch, waits for a
   * latch.
   */
  record Hold(CountDownLatch until) implements RequestFault {}

  /** A get or list returns an earlier state. */
  record Stale(int changes) implements RequestFault {
    public Stale {
      if (changes < 1) {
        throw new IllegalArgumentException("stale by at least one change, not " + changes);
      }
    }
  }
}
