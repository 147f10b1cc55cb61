package io.pmemcsi.base.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.http.GaugeFamily.Sample;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import io.pmemcsi.base.version.Version;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Isolated("there is one log for all of the JVM")
class HttpEndpointTest {

  private static final ListenAddress ANY_PORT = ListenAddress.parse("127.0.0.1:0");

  private final AtomicReference<Optional<String>> problem = new AtomicReference<>(Optional.empty());
  private final HttpClient client = HttpClient.newHttpClient();
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private HttpEndpoint endpoint;

  @BeforeEach
  void start() {
    PrometheusRegistry registry = new PrometheusRegistry();
    Version.register(registry);
    Gauge.builder().name("pmem_amount_available").help("free").register(registry).set(5);
    GaugeFamily total =
        new GaugeFamily("pmem_amount_total", "all", List.of(new Sample(Map.of("node", "a\"b"), 7)));
    Map<String, Page> pages =
        new HashMap<>(Pages.metrics("/metrics", registry, () -> List.of(total)));
    pages.put("/readyz", Pages.health(problem::get));
    pages.put(
        "/broken",
        () -> {
          throw new IOException("no disk");
        });
    Logging.configure(LogFormat.TEXT, Verbosity.PRODUCTION, log);
    endpoint = HttpEndpoint.start(ANY_PORT, "/metrics", pages);
  }

  @AfterEach
  void stop() {
    client.close();
    endpoint.close();
    Logging.configure(LogFormat.TEXT, Verbosity.PRODUCTION);
  }

  @Test
  void theAddressHasThePortThatTheSystemChose() {
    assertThat(endpoint.address()).hasToString("127.0.0.1:" + endpoint.port());
    assertThat(endpoint.port()).isPositive();
  }

  @Test
  void thePortChosenByTheSystemIsLogged() {
    assertThat(log.toString(StandardCharsets.UTF_8))
        .containsOnlyOnce(
            "Prometheus endpoint started. endpoint=\"http://127.0.0.1:%d/metrics\"\n"
                .formatted(endpoint.port()));
  }

  @ParameterizedTest
  @CsvSource({
    ":8080, http://[::]:8080/metrics",
    "127.0.0.1:8080, http://127.0.0.1:8080/metrics",
    "[::1]:8080, http://[::1]:8080/metrics",
  })
  void aPageHasAnAddressAlsoWhereNoHostIsSaid(String address, String url) {
    assertThat(ListenAddress.parse(address).url("/metrics")).isEqualTo(url);
  }

  @Test
  void metricsAreInThePrometheusTextFormat() throws Exception {
    HttpResponse<String> response = get("/metrics");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("Content-Type").orElseThrow())
        .startsWith("text/plain; version=0.0.4");
    assertThat(response.body())
        .contains("# TYPE build_info gauge\nbuild_info{version=\"" + Version.current() + "\"} 1")
        .contains("pmem_amount_available 5.0")
        .contains("# TYPE pmem_amount_total gauge\npmem_amount_total{node=\"a\\\"b\"} 7.0");
  }

  @Test
  void simpleMetricsHaveTheBuildOnly() throws Exception {
    HttpResponse<String> response = get("/metrics/simple");

    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).contains("build_info{").doesNotContain("pmem_amount");
  }

  @Test
  void healthFollowsTheProblem() throws Exception {
    assertThat(get("/readyz").statusCode()).isEqualTo(200);

    problem.set(Optional.of("no leader"));

    HttpResponse<String> response = get("/readyz");
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.body()).isEqualTo("no leader\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/metrics/", "/metrics/other", "/readyz/x"})
  void unknownPathsAreNotFound(String path) throws Exception {
    assertThat(get(path).statusCode()).isEqualTo(404);
  }

  @Test
  void aBrokenPageSaysWhy() throws Exception {
    HttpResponse<String> response = get("/broken");

    assertThat(response.statusCode()).isEqualTo(500);
    assertThat(response.body()).isEqualTo("/broken failed: no disk\n");
  }

  @Test
  void pagesCannotBeWritten() throws Exception {
    HttpRequest post = request("/metrics").POST(HttpRequest.BodyPublishers.ofString("x")).build();

    assertThat(client.send(post, BodyHandlers.ofString()).statusCode()).isEqualTo(405);
  }

  @Test
  void tooManyHeadersAreRefused() throws Exception {
    HttpRequest.Builder request = request("/metrics");
    for (int i = 0; i < 100_000; i++) {
      request.header("X-H" + i, "v");
    }

    assertThat(client.send(request.build(), BodyHandlers.ofString()).statusCode()).isEqualTo(431);
  }

  @Test
  void anOccupiedPortIsNamed() {
    ListenAddress taken = new ListenAddress("127.0.0.1", endpoint.port());

    assertThatThrownBy(() -> HttpEndpoint.start(taken, "/metrics", Map.of()))
        .isInstanceOf(FatalException.class)
        .hasMessageStartingWith("cannot listen on 127.0.0.1:" + endpoint.port() + ": ")
        .hasMessageEndingWith("; choose another address or port");
  }

  @ParameterizedTest
  @CsvSource({":8080,'',8080", "127.0.0.1:10010,127.0.0.1,10010", "[::1]:1,::1,1"})
  void addressesAreRead(String text, String host, int port) {
    assertThat(ListenAddress.parse(text))
        .isEqualTo(new ListenAddress(host, port))
        .hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "8080", ":", ":x", ":70000", "::1:80"})
  void wrongAddressesAreRefused(String text) {
    assertThatThrownBy(() -> ListenAddress.parse(text))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private HttpResponse<String> get(String path) throws Exception {
    return client.send(request(path).build(), BodyHandlers.ofString());
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(
        URI.create("http://127.0.0.1:%d%s".formatted(endpoint.port(), path)));
  }
}
