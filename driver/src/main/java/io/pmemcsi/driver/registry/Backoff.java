package io.pmemcsi.driver.registry;

import java.time.Duration;

/**
 * How long to wait before the next attempt: doubled after each failure up to a limit, and then
 * shortened by chance, so that all nodes do not come at once.
 */
public record Backoff(Duration first, Duration limit) {

  /** Short enough that all nodes are back within seconds of a controller's restart. */
  public static final Backoff DEFAULT = new Backoff(Duration.ofMillis(250), Duration.ofSeconds(4));

  /**
   * The pause after so many failures in a row.
   *
   * @param random from 0 to 1
   */
  Duration after(int failures, double random) {
    double doubled = first.toNanos() * Math.pow(2, Math.clamp(failures - 1L, 0, 30));
    double limited = Math.min(doubled, (double) limit.toNanos());
    return Duration.ofNanos((long) (limited * (0.5 + random / 2)));
  }
}
