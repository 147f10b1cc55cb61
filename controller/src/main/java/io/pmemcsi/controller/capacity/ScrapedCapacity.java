package io.pmemcsi.controller.capacity;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.controller.watch.LeanWatch;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Capacity from the metrics endpoints of the node drivers, for clusters without CSIStorageCapacity.
 * Each endpoint is read in the background; one that hangs, lies or vanishes makes the data of its
 * own node old and nothing else.
 */
public final class ScrapedCapacity implements CapacitySource {

  private static final Logger LOG = LoggerFactory.getLogger(ScrapedCapacity.class);
  private static final int PARALLEL = 16;
  private static final long MAX_BYTES = 1 << 20;

  /** How often and how patiently endpoints are read. */
  public record Timing(Duration period, Duration timeout) {
    public static final Timing DEFAULT = new Timing(Duration.ofSeconds(30), Duration.ofSeconds(5));
  }

  /** Where the driver of a node serves its metrics. */
  private record Endpoint(String node, URI uri) {}

  private final DriverName driver;
  private final NodeCapacities capacities;
  private final Timing timing;
  private final Clock clock;
  private final Map<String, Endpoint> endpoints = new ConcurrentHashMap<>();
  private final Set<String> tried = ConcurrentHashMap.newKeySet();

  /** Endpoints that are being read, and whether that must be repeated. */
  private final Map<String, Boolean> inFlight = new ConcurrentHashMap<>();

  private final Semaphore parallel = new Semaphore(PARALLEL);
  private final HttpClient http;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("capacity").factory());
  private final LeanWatch pods;
  private volatile boolean complete;

  private ScrapedCapacity(
      KubernetesClient client,
      String namespace,
      DriverName driver,
      NodeCapacities capacities,
      Timing timing,
      Clock clock) {
    this.driver = driver;
    this.capacities = capacities;
    this.timing = timing;
    this.clock = clock;
    this.http =
        HttpClient.newBuilder()
            .connectTimeout(timing.timeout())
            .version(HttpClient.Version.HTTP_1_1)
            .build();
    this.pods =
        LeanWatch.start(
            "node driver pods",
            client,
            Pod.class,
            client
                .pods()
                .inNamespace(namespace)
                .withLabels(
                    Map.of(
                        "app.kubernetes.io/part-of", "pmem-csi",
                        "app.kubernetes.io/component", "node",
                        "app.kubernetes.io/instance", driver.value())),
            this::changed,
            pod -> removed(pod.getMetadata().getName()));
    var _ =
        timer.scheduleWithFixedDelay(
            this::scrapeAll,
            timing.period().toMillis(),
            timing.period().toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /** Starts in the background. */
  public static ScrapedCapacity start(
      KubernetesClient client,
      String namespace,
      DriverName driver,
      NodeCapacities capacities,
      Timing timing,
      Clock clock) {
    return new ScrapedCapacity(client, namespace, driver, capacities, timing, clock);
  }

  /** A node that joins later does not count: scheduling to the others must go on. */
  @Override
  public Optional<String> notReady() {
    if (complete) {
      return Optional.empty();
    }
    if (!pods.hasSynced()) {
      return Optional.of("the pods of the node drivers are not listed yet");
    }
    long open = endpoints.keySet().stream().filter(pod -> !tried.contains(pod)).count();
    return open == 0
        ? Optional.empty()
        : Optional.of("the metrics of %d node drivers are not read yet".formatted(open));
  }

  @Override
  public Duration age(Instant observed, Instant now) {
    return Duration.between(observed, now);
  }

  @Override
  public void tick(Instant now) {
    // each scrape has a time
  }

  @Override
  public String remedy() {
    return "does the metrics endpoint of the driver on this node answer?";
  }

  @Override
  public void refresh(String node) {
    endpoints.forEach(
        (pod, endpoint) -> {
          if (endpoint.node().equals(node)) {
            scrapeAgain(pod);
          }
        });
  }

  @Override
  public void close() {
    pods.close();
    timer.shutdownNow();
    http.shutdownNow();
  }

  private void changed(Pod pod) {
    String name = pod.getMetadata().getName();
    Optional<Endpoint> endpoint = endpoint(pod);
    if (endpoint.isEmpty()) {
      removed(name);
    } else if (!endpoint.get().equals(endpoints.put(name, endpoint.get()))) {
      scrapeAgain(name);
    }
  }

  private void removed(String pod) {
    tried.remove(pod);
    Endpoint endpoint = endpoints.remove(pod);
    if (endpoint != null
        && endpoints.values().stream().noneMatch(e -> e.node().equals(endpoint.node()))) {
      capacities.forget(endpoint.node());
    }
  }

  private static Optional<Endpoint> endpoint(Pod pod) {
    String node = pod.getSpec().getNodeName();
    String address = pod.getStatus() == null ? null : pod.getStatus().getPodIP();
    if (node == null || address == null || pod.getMetadata().getDeletionTimestamp() != null) {
      return Optional.empty();
    }
    return pod.getSpec().getContainers().stream()
        .filter(container -> "pmem-driver".equals(container.getName()))
        .flatMap(container -> Stream.ofNullable(container.getPorts()).flatMap(List::stream))
        .filter(port -> "metrics".equals(port.getName()))
        .findFirst()
        .map(
            port ->
                new Endpoint(
                    node,
                    URI.create(
                        "http://%s:%d/metrics"
                            .formatted(
                                address.contains(":") ? "[" + address + "]" : address,
                                port.getContainerPort()))));
  }

  private void scrapeAll() {
    complete = complete || notReady().isEmpty();
    endpoints
        .keySet()
        .forEach(
            pod -> {
              if (inFlight.putIfAbsent(pod, false) == null) {
                startScrape(pod);
              }
            });
  }

  /** Reads an endpoint; an attempt that has begun may show what was before, and is repeated. */
  private void scrapeAgain(String pod) {
    if (inFlight.put(pod, true) == null) {
      startScrape(pod);
    }
  }

  private void startScrape(String pod) {
    Thread.ofVirtual()
        .name("scrape-" + pod)
        .start(
            () -> {
              boolean done = false;
              try {
                while (!done) {
                  parallel.acquire();
                  try {
                    inFlight.put(pod, false);
                    scrape(pod);
                  } finally {
                    parallel.release();
                    if (endpoints.containsKey(pod)) {
                      tried.add(pod);
                    }
                  }
                  done = inFlight.remove(pod, false);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } finally {
                if (!done) {
                  inFlight.remove(pod);
                }
              }
            });
  }

  private void scrape(String pod) throws InterruptedException {
    Endpoint endpoint = endpoints.get(pod);
    if (endpoint == null) {
      return;
    }
    Instant begin = clock.instant();
    CompletableFuture<HttpResponse<String>> answer =
        http.sendAsync(
            HttpRequest.newBuilder(endpoint.uri()).build(),
            BodyHandlers.limiting(BodyHandlers.ofString(), MAX_BYTES));
    try {
      // of the whole answer: a time-out of the request would end with its headers
      HttpResponse<String> response =
          answer.get(timing.timeout().toMillis(), TimeUnit.MILLISECONDS);
      if (response.statusCode() != 200) {
        throw new IOException("status " + response.statusCode());
      }
      FreeCapacity free = NodeMetrics.read(response.body().lines(), driver.value());
      if (endpoint.equals(endpoints.get(pod))) {
        capacities.observe(endpoint.node(), free, begin);
      }
    } catch (TimeoutException e) {
      answer.cancel(true);
      warn(endpoint, "no answer within " + timing.timeout().toMillis() + " ms");
    } catch (ExecutionException | IOException e) {
      warn(endpoint, Reason.of(e));
    }
  }

  private static void warn(Endpoint endpoint, String cause) {
    LOG.atWarn()
        .addKeyValue("node", endpoint.node())
        .addKeyValue("endpoint", endpoint.uri())
        .addKeyValue("cause", cause)
        .log("Capacity was not read.");
  }
}
