package io.pmemcsi.controller;

import io.pmemcsi.controller.capacity.CapacitySource;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Clock;

/** All metrics except those of requests ({@code RequestMetrics}). */
final class ControllerMetrics {

  private final PrometheusRegistry registry;
  private final NodeCapacities capacities;
  private final Clock clock;
  private final Counter rescheduled;

  ControllerMetrics(PrometheusRegistry registry, NodeCapacities capacities, Clock clock) {
    this.registry = registry;
    this.capacities = capacities;
    this.clock = clock;
    this.rescheduled =
        Counter.builder()
            .name("scheduler_rescheduled_claims_total")
            .help("Claims whose selected node was removed because it does not run the driver.")
            .register(registry);
    GaugeWithCallback.builder()
        .name("scheduler_reserved_volumes")
        .help("Volumes for which capacity is reserved until they exist.")
        .callback(callback -> callback.call(capacities.reservedVolumes()))
        .register(registry);
  }

  void follow(CapacitySource source) {
    GaugeWithCallback.builder()
        .name("scheduler_capacity_age_seconds")
        .help("Age of the oldest capacity data of any node.")
        .callback(
            callback -> callback.call(capacities.oldest(source, clock.instant()).toMillis() / 1e3))
        .register(registry);
  }

  void rescheduled() {
    rescheduled.inc();
  }
}
