package io.pmemcsi.base.http;

import io.prometheus.metrics.instrumentation.jvm.JvmClassLoadingMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmGarbageCollectorMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmMemoryMetrics;
import io.prometheus.metrics.instrumentation.jvm.JvmRuntimeInfoMetric;
import io.prometheus.metrics.instrumentation.jvm.JvmThreadsMetrics;
import io.prometheus.metrics.instrumentation.jvm.ProcessMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/** The metrics {@code process_*} and {@code jvm_*}, the same for all programs. */
public final class RuntimeMetrics {

  private RuntimeMetrics() {}

  /** Only those that need no JMX server: that would be a fifth of the driver's memory. */
  public static void register(PrometheusRegistry registry) {
    ProcessMetrics.builder().register(registry);
    JvmMemoryMetrics.builder().register(registry);
    JvmGarbageCollectorMetrics.builder().register(registry);
    JvmThreadsMetrics.builder().register(registry);
    JvmClassLoadingMetrics.builder().register(registry);
    JvmRuntimeInfoMetric.builder().register(registry);
  }
}
