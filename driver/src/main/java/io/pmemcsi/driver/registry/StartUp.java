package io.pmemcsi.driver.registry;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/**
 * The time after a start without any record, in which nodes that exist may not have registered yet.
 */
final class StartUp {

  private final Clock clock;
  private final Instant settled;

  private StartUp(Clock clock, Instant settled) {
    this.clock = clock;
    this.settled = settled;
  }

  /**
   * Begins now.
   *
   * @param settling how long nodes need to register; with records it is known which nodes to expect
   */
  static StartUp begin(Clock clock, Duration settling, VolumeLocations locations) {
    boolean fresh = locations.nodes().isEmpty();
    return new StartUp(clock, fresh ? clock.instant().plus(settling) : clock.instant());
  }

  /** Whether an unknown node or volume may become known within moments. */
  boolean isSettling() {
    return clock.instant().isBefore(settled);
  }
}
