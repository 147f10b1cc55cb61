package io.pmemcsi.controller;

import io.pmemcsi.controller.capacity.NodeCapacities;
import java.time.Clock;
import java.time.Duration;

/** Ends promises that have timed out. */
final class Expiry implements AutoCloseable {

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final Thread thread;

  Expiry(NodeCapacities capacities, Clock clock) {
    this.thread =
        Thread.ofVirtual()
            .name("expiry")
            .start(
                () -> {
                  try {
                    while (true) {
                      Thread.sleep(PERIOD);
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
