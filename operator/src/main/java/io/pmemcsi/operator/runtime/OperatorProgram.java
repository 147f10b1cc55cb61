package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.javaoperatorsdk.operator.api.monitoring.AggregatedMetrics;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.http.HttpEndpoint;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.Page;
import io.pmemcsi.base.http.Pages;
import io.pmemcsi.base.http.RuntimeMetrics;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.operator.controller.CleanupListener;
import io.pmemcsi.operator.controller.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.facts.KnownFacts;
import io.pmemcsi.operator.facts.OwnPod;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.kinds.Kinds;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.metrics.OperatorMetrics;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.usage.ApiUsage;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The running operator: its reconcilers, its metrics and its health, until it is closed. */
public final class OperatorProgram implements AutoCloseable {

  /** The lease on which replicas agree. */
  public static final String LEASE = "pmem-csi-operator-lock";

  private static final Logger LOG = LoggerFactory.getLogger(OperatorProgram.class);
  private static final String COMPONENT = "pmem-csi-operator";
  private static final String METRICS = "/metrics";
  private static final int WORKERS = 8;

  private final KindControllers controllers;
  private final ExecutorService workers;
  private final KubernetesClient client;
  private final FatalErrorHandler fatal;
  private final LeaderLease lease;
  private final OnElectedTask sweep;
  private final Optional<ConfigFile> config;
  private @Nullable CertificateWatch certificates;
  private @Nullable HttpEndpoint endpoint;

  private final OperatorMetrics metrics;

  private OperatorProgram(
      KindControllers controllers,
      ExecutorService workers,
      KubernetesClient client,
      FatalErrorHandler fatal,
      LeaderLease lease,
      OnElectedTask sweep,
      Optional<ConfigFile> config,
      OperatorMetrics metrics) {
    this.metrics = metrics;
    this.fatal = fatal;
    this.lease = lease;
    this.sweep = sweep;
    this.config = config;
    this.controllers = controllers;
    this.workers = workers;
    this.client = client;
  }

  /**
   * Starts with a client, which stays open when the operator is closed; returns once every cache is
   * filled.
   *
   * @param end what to do when the operator, once started, cannot go on: nothing in this process
   *     may write to the cluster any more
   */
  public static OperatorProgram start(
      KubernetesClient client,
      OperatorOptions options,
      Map<String, String> environment,
      Consumer<FatalException> end) {
    return start(client, options, environment, Clock.systemUTC(), RetryPolicy.DEFAULT, end);
  }

  /** Metrics that other parts of the program count in as well. */
  public OperatorMetrics metrics() {
    return metrics;
  }

  /** The same with a clock. Where it cannot go on, the process ends at once. */
  public static OperatorProgram start(
      KubernetesClient client,
      OperatorOptions options,
      Map<String, String> environment,
      Clock clock) {
    return start(client, options, environment, clock, RetryPolicy.DEFAULT);
  }

  /** The same with another retry policy. */
  public static OperatorProgram start(
      KubernetesClient client,
      OperatorOptions options,
      Map<String, String> environment,
      Clock clock,
      RetryPolicy retries) {
    return start(
        client,
        options,
        environment,
        clock,
        retries,
        failure -> {
          LOG.atError().addKeyValue("cause", failure.getMessage()).log("Cannot go on.");
          Runtime.getRuntime().halt(1);
        });
  }

  private static OperatorProgram start(
      KubernetesClient client,
      OperatorOptions options,
      Map<String, String> environment,
      Clock clock,
      RetryPolicy retries,
      Consumer<FatalException> end) {
    // before anything else: a mistyped key is reported even if the cluster cannot be reached
    Optional<ConfigFile> config = options.config().map(ConfigFile::new);
    var pod = new OwnPod(environment);
    String namespace = pod.namespace();
    Optional<String> image = options.image().or(() -> pod.image(client, namespace));
    KnownFacts facts = facts(client, namespace, image, clock);
    Supplier<OperatorConfig> settings =
        config.<Supplier<OperatorConfig>>map(file -> file).orElse(() -> OperatorConfig.DEFAULT);
    var nodeUpdates = new NodeUpdates(client, () -> facts.get().version(), clock);
    var kinds =
        Kinds.of(namespace, facts, settings, new ApiUsage(client, clock), nodeUpdates, clock);
    var registry = new PrometheusRegistry();
    Version.register(registry);
    RuntimeMetrics.register(registry);
    var metrics = new OperatorMetrics(registry, COMPONENT);
    ExecutorService workers =
        Executors.newFixedThreadPool(WORKERS, Thread.ofVirtual().name("reconcile-", 0).factory());
    var sweep = new OnElectedTask("release nodes of lost resources", nodeUpdates::releaseOrphans);
    var fatal = new FatalErrorHandler(end);
    var started = new AtomicReference<KindControllers>();
    var lease =
        new LeaderLease(
            namespace,
            pod.name().orElse(COMPONENT) + "-" + UUID.randomUUID().toString().substring(0, 8),
            () -> {
              started.get().beginProcessing();
              sweep.begin();
            },
            fatal);
    var cleanups = new CleanupListener();
    var operator =
        new Operator(
            overrider ->
                configure(
                    overrider,
                    client,
                    workers,
                    new AggregatedMetrics(List.of(metrics, cleanups)),
                    fatal,
                    options.leaderElection() ? Optional.of(lease) : Optional.empty(),
                    namespace));
    var factory =
        new ControllerFactory(
            kinds,
            operator,
            client,
            new EventWriter(client, COMPONENT, clock),
            metrics,
            cleanups,
            retries,
            clock);
    var controllers =
        new KindControllers(
            operator,
            kinds.all(),
            new ClusterProbe(client),
            (kind, late) -> factory.create(kind, type -> started.get().isServed(type), late),
            !options.leaderElection(),
            fatal);
    started.set(controllers);
    var program =
        new OperatorProgram(controllers, workers, client, fatal, lease, sweep, config, metrics);
    var liveness = new Liveness(clock, controllers::watches, metrics::queued, metrics::finished);
    program.run(options.metrics(), registry, facts.get(), liveness::problem);
    if (!options.leaderElection()) {
      sweep.begin();
    }
    config.ifPresent(file -> file.onChange(controllers::requeueAll));
    program.certificates =
        CertificateWatch.start(options.kubeconfig(), client.getConfiguration(), fatal);
    return program;
  }

  private static void configure(
      ConfigurationServiceOverrider overrider,
      KubernetesClient client,
      ExecutorService workers,
      Metrics metrics,
      FatalErrorHandler fatal,
      Optional<LeaderLease> lease,
      String namespace) {
    overrider
        .withKubernetesClient(client)
        .withCloseClientOnStop(false)
        .withExecutorService(workers)
        .withReconciliationTerminationTimeout(Duration.ofSeconds(5))
        .withMetrics(metrics)
        // JOSDK's own handler exits the process itself, as if it had been stopped
        .withInformerStoppedHandler(fatal::informerStopped);
    lease.ifPresent(
        leader ->
            overrider.withLeaderElectionConfiguration(
                LeaderElectionConfigurationBuilder.aLeaderElectionConfiguration(LEASE)
                    .withLeaseNamespace(namespace)
                    .withIdentity(leader.identity())
                    .withExitOnStopLeading(false)
                    .withLeaderCallbacks(leader.callbacks())
                    .build()));
  }

  private void run(
      Optional<ListenAddress> address,
      PrometheusRegistry registry,
      ClusterFacts facts,
      Supplier<Optional<String>> problem) {
    try {
      address.ifPresent(
          where -> endpoint = HttpEndpoint.start(where, METRICS, pages(registry, problem)));
      controllers.start();
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    LOG.atInfo()
        .addKeyValue("version", Version.current())
        .addKeyValue("kubernetes", facts.version())
        .addKeyValue("namespace", facts.namespace())
        .addKeyValue("image", facts.defaultImage().orElse("none"))
        .log("PMEM-CSI operator started.");
  }

  /** The port of metrics and health, if they are offered. */
  public Optional<Integer> metricsPort() {
    return Optional.ofNullable(endpoint).map(HttpEndpoint::port);
  }

  @Override
  public void close() {
    fatal.closing();
    sweep.close();
    config.ifPresent(ConfigFile::close);
    if (certificates != null) {
      certificates.close();
    }
    controllers.close();
    lease.release(client);
    if (endpoint != null) {
      endpoint.close();
    }
    workers.shutdownNow();
    LOG.atInfo().log("PMEM-CSI operator stopped.");
  }

  private Map<String, Page> pages(PrometheusRegistry registry, Supplier<Optional<String>> problem) {
    var pages = new HashMap<>(Pages.metrics(METRICS, registry));
    pages.put("/healthz", Pages.health(problem));
    pages.put("/readyz", Pages.health(this::notReady));
    return pages;
  }

  private Optional<String> notReady() {
    return controllers.watches()
        ? controllers
            .problem()
            .or(
                () ->
                    config
                        .flatMap(ConfigFile::problem)
                        .map("the configuration file is wrong, that from before is used: "::concat))
        : Optional.of("caches are not filled");
  }

  private static KnownFacts facts(
      KubernetesClient client, String namespace, Optional<String> image, Clock clock) {
    try {
      var probe = new ClusterProbe(client);
      return new KnownFacts(() -> probe.facts(namespace, image), clock);
    } catch (KubernetesClientException e) {
      throw new FatalException(
          "cannot reach the API server %s: %s; check --kubeconfig and that the server runs"
              .formatted(client.getMasterUrl(), Refusal.reason(e)),
          e);
    }
  }
}
