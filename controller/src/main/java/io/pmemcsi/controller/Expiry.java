package io.pmemcsi.controller;

import io.pmemcsi.controller.capacity.CapacitySource;
import io.pmemcsi.controller.capacity.NodeCapacities;
import java.time.Clock;
import java.time.Duration;

/**
 * Every second, ends reservations that are over and lets the capacity source record that its data
 * is still current.
 */
final class Expiry implements AutoCloseable {

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final Thread thread;

  Expiry(NodeCapacities capacities, CapacitySource source, Clock clock) {
    this.thread =
        Thread.ofVirtual()
            .name("expiry")
            .start(
                () -> {
                  try {
                    while (true) {
                      Thread.sleep(PERIOD);
                      source.tick(clock.instant());
                      capacities.expire(clock.instant());
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
