package io.pmemcsi.driver;

import io.pmemcsi.base.http.HttpEndpoint;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.Pages;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.driver.registry.CentralController;
import io.pmemcsi.driver.registry.CentralSettings;
import java.util.Optional;
import java.util.OptionalInt;

/** The central controller with its metrics, running until it is closed. */
public final class CentralDriver implements AutoCloseable {

  private final CentralController controller;
  private final Optional<HttpEndpoint> http;

  private CentralDriver(CentralController controller, Optional<HttpEndpoint> http) {
    this.controller = controller;
    this.http = http;
  }

  /**
   * Starts the controller; it serves when this returns.
   *
   * @param metricsListen where metrics are served, if at all
   */
  public static CentralDriver start(
      CentralSettings settings, Optional<ListenAddress> metricsListen, String metricsPath) {
    DriverMetrics metrics = new DriverMetrics(settings.driver(), settings.name());
    CentralController controller = CentralController.start(settings, metrics::called);
    boolean started = false;
    try {
      Optional<HttpEndpoint> http =
          metricsListen.map(
              address ->
                  HttpEndpoint.start(
                      address,
                      metricsPath,
                      Pages.metrics(
                          metricsPath,
                          metrics.registry(),
                          () -> DriverMetrics.nodes(controller.nodes()))));
      started = true;
      return new CentralDriver(controller, http);
    } finally {
      if (!started) {
        controller.close();
      }
    }
  }

  /** The port of the metrics endpoint, where there is one. */
  public OptionalInt metricsPort() {
    return http.map(endpoint -> OptionalInt.of(endpoint.port())).orElse(OptionalInt.empty());
  }

  @Override
  public void close() {
    controller.close();
    http.ifPresent(HttpEndpoint::close);
  }
}
