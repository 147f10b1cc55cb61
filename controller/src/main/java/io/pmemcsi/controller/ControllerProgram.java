package io.pmemcsi.controller;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.http.HttpEndpoint;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.Page;
import io.pmemcsi.base.http.Pages;
import io.pmemcsi.base.http.RuntimeMetrics;
import io.pmemcsi.base.http.ServerTuning;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.controller.capacity.CapacitySource;
import io.pmemcsi.controller.capacity.NodeCapacities;
import io.pmemcsi.controller.capacity.ScrapedCapacity;
import io.pmemcsi.controller.capacity.WatchedCapacity;
import io.pmemcsi.controller.cluster.ClusterCache;
import io.pmemcsi.controller.cluster.NewClaims;
import io.pmemcsi.controller.cluster.PendingPods;
import io.pmemcsi.controller.cluster.ReservationUpdates;
import io.pmemcsi.controller.extender.SchedulerExtender;
import io.pmemcsi.controller.https.ControllerServer;
import io.pmemcsi.controller.https.ControllerServer.Route;
import io.pmemcsi.controller.https.RequestMetrics;
import io.pmemcsi.controller.https.Response;
import io.pmemcsi.controller.rescheduler.DriverNodes;
import io.pmemcsi.controller.rescheduler.ElectedRescheduler;
import io.pmemcsi.controller.rescheduler.Rescheduler;
import io.pmemcsi.controller.volume.VolumeClasses;
import io.pmemcsi.controller.volume.VolumeNeeds;
import io.pmemcsi.controller.webhook.PodWebhook;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The running controller, until it is closed. */
public final class ControllerProgram implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ControllerProgram.class);

  /** Of one request; many are read at the same time, and the memory is small. */
  private static final int MAX_HEADERS = 32 << 10;

  /** kube-scheduler waits for five seconds. */
  private static final Duration EXTENDER_WAIT = Duration.ofSeconds(3);

  /** With the time in which {@link NewClaims} reads, the webhook answers within a second. */
  private static final Duration WEBHOOK_WAIT = Duration.ofMillis(250);

  static {
    ServerTuning.limitHeaders(MAX_HEADERS);
  }

  /**
   * Periods and time-outs; tests use shorter ones.
   *
   * @param drain how long to answer after the stop was asked for: callers learn only after some
   *     time that a replica is not there for them any more
   */
  public record Timing(ScrapedCapacity.Timing scrape, Duration certificateReload, Duration drain) {
    public static final Timing DEFAULT =
        new Timing(ScrapedCapacity.Timing.DEFAULT, Duration.ofSeconds(10), Duration.ofSeconds(5));
  }

  private final ControllerSettings settings;
  private final KubernetesClient client;
  private final Timing timing;
  private final Clock clock = Clock.systemUTC();
  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final NodeCapacities capacities = new NodeCapacities();
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private final List<ControllerServer> servers = new ArrayList<>();
  private final Readiness readiness = new Readiness();
  private final ControllerMetrics metrics;
  private Optional<Integer> schedulerPort = Optional.empty();
  private Optional<Integer> metricsPort = Optional.empty();

  private ControllerProgram(KubernetesClient client, ControllerSettings settings, Timing timing) {
    this.client = client;
    this.settings = settings;
    this.timing = timing;
    Version.register(registry);
    RuntimeMetrics.register(registry);
    this.metrics = new ControllerMetrics(registry, capacities, clock);
  }

  /** Starts with a client that stays open; returns when the servers listen. */
  public static ControllerProgram start(
      KubernetesClient client, ControllerSettings settings, Timing timing) {
    var program = new ControllerProgram(client, settings, timing);
    try {
      program.start();
      return program;
    } catch (KubernetesClientException e) {
      program.closeParts();
      throw new FatalException(
          "cannot reach the API server %s: %s; check KUBECONFIG and that the server runs"
              .formatted(client.getMasterUrl(), Reason.of(e)),
          e);
    } catch (RuntimeException e) {
      program.closeParts();
      throw e;
    }
  }

  /** The port of extender and webhook over HTTPS, if they are served. */
  public Optional<Integer> schedulerPort() {
    return schedulerPort;
  }

  /** The port of metrics and health, if they are served. */
  public Optional<Integer> metricsPort() {
    return metricsPort;
  }

  /** Why the controller must not be called yet; empty if it may. */
  public Optional<String> notReady() {
    return readiness.problem();
  }

  /** Answers for a while longer, without being ready, before everything is closed. */
  @Override
  public void close() {
    readiness.add(() -> Optional.of("the controller is being stopped"));
    drain();
    closeParts();
    LOG.atInfo().log("PMEM-CSI controller stopped.");
  }

  private void closeParts() {
    while (!parts.isEmpty()) {
      AutoCloseable part = parts.pop();
      try {
        part.close();
      } catch (Exception e) {
        LOG.atWarn().setCause(e).log("A part was not closed.");
      }
    }
  }

  private void drain() {
    if (servers.isEmpty()) {
      return;
    }
    servers.forEach(ControllerServer::drain);
    try {
      Thread.sleep(timing.drain());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void start() {
    // the probe may ask before everything that it depends on is known
    var starting = new Readiness.Step("the controller is starting");
    readiness.add(starting);
    settings.metricsListen().ifPresent(this::serveMetrics);
    ClusterCache cache = added(ClusterCache.start(client));
    CapacitySource source = added(capacitySource(cache));
    metrics.follow(source);
    var updates = new ReservationUpdates(settings.driver(), capacities, source::refresh, clock);
    cache.onClaimChange(updates);
    PendingPods pods = added(PendingPods.start(client, settings.driver(), updates));
    parts.push(new Expiry(capacities, source, clock));
    readiness.add(source::notReady);
    readiness.add(cache::notReady);
    readiness.add(pods::notReady);
    if (!settings.nodeSelector().isEmpty()) {
      startRescheduler(cache);
    }
    serveScheduler(cache, source);
    starting.done();
    LOG.atInfo()
        .addKeyValue("version", Version.current())
        .addKeyValue("driver", settings.driver())
        .addKeyValue("namespace", settings.namespace())
        .log("PMEM-CSI controller started.");
  }

  private CapacitySource capacitySource(VolumeClasses classes) {
    Optional<String> served = WatchedCapacity.servedVersion(client, settings.namespace());
    LOG.atInfo()
        .addKeyValue("source", served.map("CSIStorageCapacity "::concat).orElse("node metrics"))
        .log("Capacity is known from:");
    return served
        .<CapacitySource>map(
            version ->
                WatchedCapacity.start(
                    client,
                    version,
                    settings.namespace(),
                    settings.driver(),
                    classes,
                    capacities,
                    clock))
        .orElseGet(
            () ->
                ScrapedCapacity.start(
                    client,
                    settings.namespace(),
                    settings.driver(),
                    capacities,
                    timing.scrape(),
                    clock));
  }

  private void startRescheduler(ClusterCache cache) {
    var drivers = List.of(new DriverNodes(settings.driver(), settings.nodeSelector()));
    parts.push(
        ElectedRescheduler.start(
            client,
            settings.namespace(),
            settings.driver().hyphenated() + "-rescheduler",
            settings.identity(),
            new Rescheduler(client, cache, () -> drivers, metrics::rescheduled, clock)));
  }

  private void serveScheduler(ClusterCache cache, CapacitySource source) {
    var needs = new VolumeNeeds(settings.driver(), cache);
    var extender = new SchedulerExtender(needs, capacities, source, clock);
    var newClaims = new NewClaims(client, cache);
    var webhook = new PodWebhook(settings.driver(), needs, newClaims::ensureKnown);
    Map<String, Route> routes =
        Map.of(
            "/filter", new Route("filter", EXTENDER_WAIT, extender::filter),
            "/prioritize", new Route("prioritize", EXTENDER_WAIT, extender::prioritize),
            "/status", new Route("status", EXTENDER_WAIT, _ -> Response.text(200, "ok")),
            "/pod/mutate", new Route("mutate", WEBHOOK_WAIT, webhook::mutate));
    var requests = new RequestMetrics(registry);
    settings
        .schedulerListen()
        .ifPresent(
            address -> {
              var tls =
                  new ControllerServer.TlsFiles(
                      settings.certificate().certificate(),
                      settings.certificate().key(),
                      timing.certificateReload());
              ControllerServer server = serve(address, Optional.of(tls), routes, requests);
              schedulerPort = Optional.of(server.port());
              warmUp(server);
            });
    settings
        .insecureSchedulerListen()
        .ifPresent(
            address -> {
              var _ = serve(address, Optional.empty(), routes, requests);
            });
  }

  private ControllerServer serve(
      ListenAddress address,
      Optional<ControllerServer.TlsFiles> tls,
      Map<String, Route> routes,
      RequestMetrics requests) {
    ControllerServer server = added(ControllerServer.start(address, tls, routes, requests));
    servers.add(server);
    return server;
  }

  /** In the background, and not ready until it is over. */
  private void warmUp(ControllerServer server) {
    var pending = new Readiness.Step("TLS is not warm yet");
    readiness.add(pending);
    Thread.ofVirtual()
        .name("warm-up")
        .start(
            () -> {
              try {
                server.warmUp("/filter", WarmUpRequest.body(), WarmUpRequest.CALLS);
              } catch (IOException e) {
                LOG.atWarn().addKeyValue("cause", Reason.of(e)).log("Warm-up failed.");
              }
              pending.done();
            });
  }

  private void serveMetrics(ListenAddress address) {
    Map<String, Page> pages = new HashMap<>(Pages.metrics(settings.metricsPath(), registry));
    pages.put("/healthz", Pages.health(Optional::empty));
    pages.put("/readyz", Pages.health(readiness::problem));
    HttpEndpoint endpoint = HttpEndpoint.start(address, settings.metricsPath(), pages);
    parts.push(endpoint);
    metricsPort = Optional.of(endpoint.port());
  }

  private <T extends AutoCloseable> T added(T part) {
    parts.push(part);
    return part;
  }
}
