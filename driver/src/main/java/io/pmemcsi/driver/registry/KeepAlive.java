package io.pmemcsi.driver.registry;

import java.time.Duration;

/**
 * How soon a connection without a living peer is noticed: a partition sends no end of connection.
 */
final class KeepAlive {

  static final Duration INTERVAL = Duration.ofSeconds(10);
  static final Duration TIMEOUT = Duration.ofSeconds(5);

  /** What servers put up with; less than the interval, because clocks differ. */
  static final Duration PERMITTED = Duration.ofSeconds(5);

  static final Duration CONNECT = Duration.ofSeconds(5);

  private KeepAlive() {}
}
