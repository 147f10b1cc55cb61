package io.pmemcsi.controller.https;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;

/** The documented metrics of the requests to the controller. */
public final class RequestMetrics {

  private final Gauge inFlight;
  private final Counter requests;
  private final Histogram duration;
  private final Histogram size;

  public RequestMetrics(PrometheusRegistry registry) {
    inFlight =
        Gauge.builder()
            .name("scheduler_in_flight_requests")
            .help("HTTP requests of the scheduler and the API server in progress.")
            .register(registry);
    requests =
        Counter.builder()
            .name("scheduler_requests_total")
            .help("HTTP requests of the scheduler and the API server.")
            .labelNames("code", "method")
            .register(registry);
    duration =
        Histogram.builder()
            .name("scheduler_request_duration_seconds")
            .help("Duration of HTTP requests of the scheduler and the API server.")
            .classicOnly()
            .labelNames("handler", "method")
            .register(registry);
    size =
        Histogram.builder()
            .name("scheduler_response_size_bytes")
            .help("Size of responses to the scheduler and the API server.")
            .classicOnly()
            .classicUpperBounds(200, 500, 900, 1500)
            .register(registry);
  }

  void begin() {
    inFlight.inc();
  }

  void end(String handler, String method, int status, int bytes, Duration took) {
    String label = label(method);
    inFlight.dec();
    requests.labelValues(Integer.toString(status), label).inc();
    duration.labelValues(handler, label).observe(took.toNanos() / 1e9);
    size.observe(bytes);
  }

  /** Clients choose the method, and each value of a label takes memory until the process ends. */
  private static String label(String method) {
    return switch (method) {
      case "GET" -> "get";
      case "POST" -> "post";
      default -> "other";
    };
  }
}
