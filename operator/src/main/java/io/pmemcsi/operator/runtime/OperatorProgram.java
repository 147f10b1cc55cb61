package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.OperatorException;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.javaoperatorsdk.operator.api.config.ResolvedControllerConfiguration;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.api.monitoring.AggregatedMetrics;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.processing.event.rate.LinearRateLimiter;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.http.HttpEndpoint;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.Page;
import io.pmemcsi.base.http.Pages;
import io.pmemcsi.base.version.Version;
import io.pmemcsi.operator.apply.CompactStore;
import io.pmemcsi.operator.controller.CleanupListener;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.DriverReconciler;
import io.pmemcsi.operator.controller.EventWriter;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.controller.Plan;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.facts.KnownFacts;
import io.pmemcsi.operator.facts.OwnPod;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.kinds.Kinds;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.metrics.OperatorMetrics;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import io.pmemcsi.operator.usage.ApiUsage;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
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
  private static final Duration MAX_INTERVAL = Duration.ofMinutes(10);

  private final Operator operator;
  private final ExecutorService workers;
  private final KubernetesClient client;
  private final boolean ownClient;
  private final FatalErrorHandler fatal;
  private final LeaderLease lease;
  private final OnElectedTask sweep;
  private final Optional<ConfigFile> config;
  private @Nullable HttpEndpoint endpoint;

  private OperatorProgram(
      Operator operator,
      ExecutorService workers,
      KubernetesClient client,
      boolean ownClient,
      FatalErrorHandler fatal,
      LeaderLease lease,
      OnElectedTask sweep,
      Optional<ConfigFile> config) {
    this.fatal = fatal;
    this.lease = lease;
    this.sweep = sweep;
    this.config = config;
    this.operator = operator;
    this.workers = workers;
    this.client = client;
    this.ownClient = ownClient;
  }

  /**
   * Starts with a client of its own; returns once every cache is filled.
   *
   * @param end what to do when the operator, once started, cannot go on: nothing in this process
   *     may write to the cluster any more
   */
  public static OperatorProgram start(
      OperatorOptions options, Map<String, String> environment, Consumer<FatalException> end) {
    return start(
        ApiAccess.client(options.kubeconfig()),
        true,
        options,
        environment,
        Clock.systemUTC(),
        RetryPolicy.DEFAULT,
        end);
  }

  /**
   * Starts with a given client, which stays open when the operator is closed. Where it cannot go
   * on, the process ends at once.
   */
  public static OperatorProgram start(
      KubernetesClient client,
      OperatorOptions options,
      Map<String, String> environment,
      Clock clock) {
    return start(client, options, environment, clock, RetryPolicy.DEFAULT);
  }

  /**
   * How soon a resource is reconciled again.
   *
   * @param retry after a failure
   * @param perSecond for each resource: another controller that causes drift after each repair must
   *     not keep the operator busy
   */
  public record RetryPolicy(Supplier<GenericRetry> retry, int perSecond) {

    public static final RetryPolicy DEFAULT =
        new RetryPolicy(
            () ->
                new GenericRetry()
                    .setInitialInterval(200)
                    .setIntervalMultiplier(1.6)
                    .setMaxInterval(30_000)
                    .setMaxAttempts(-1),
            20);

    /** Counted by half seconds: drift must be reverted within one even under load. */
    private LinearRateLimiter limiter() {
      return new LinearRateLimiter(Duration.ofMillis(500), Math.ceilDiv(perSecond, 2));
    }
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
        false,
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
      boolean ownClient,
      OperatorOptions options,
      Map<String, String> environment,
      Clock clock,
      RetryPolicy retries,
      Consumer<FatalException> end) {
    // before anything else: a mistyped key is reported even if the cluster cannot be reached
    Optional<ConfigFile> config = options.config().map(ConfigFile::new);
    var pod = new OwnPod(environment);
    String namespace = pod.namespace();
    String image = options.image().orElseGet(() -> pod.image(client, namespace));
    KnownFacts facts = facts(client, namespace, image, clock);
    Supplier<OperatorConfig> settings =
        config.<Supplier<OperatorConfig>>map(file -> file).orElse(() -> OperatorConfig.DEFAULT);
    var nodeUpdates = new NodeUpdates(client, () -> facts.get().version(), clock);
    var kinds =
        Kinds.of(namespace, facts, settings, new ApiUsage(client, clock), nodeUpdates, clock);
    var registry = new PrometheusRegistry();
    Version.register(registry);
    var metrics = new OperatorMetrics(registry, COMPONENT);
    ExecutorService workers =
        Executors.newFixedThreadPool(WORKERS, Thread.ofVirtual().name("reconcile-", 0).factory());
    var sweep = new OnElectedTask("release nodes of lost resources", nodeUpdates::releaseOrphans);
    var fatal = new FatalErrorHandler(end);
    var lease =
        new LeaderLease(
            namespace,
            pod.name().orElse(COMPONENT) + "-" + UUID.randomUUID().toString().substring(0, 8),
            sweep::begin,
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
    var events = new EventWriter(client, COMPONENT, clock);
    var reconcilers = new ArrayList<DriverReconciler<?, ?, ?, ?, ?>>();
    for (DriverKind<?, ?, ?, ?, ?> kind : kinds.all()) {
      reconcilers.add(
          register(kind, kinds, operator, events, metrics, cleanups, client, clock, retries));
    }
    var program =
        new OperatorProgram(operator, workers, client, ownClient, fatal, lease, sweep, config);
    var liveness = new Liveness(clock, program::watches, metrics::queued, metrics::finished);
    program.run(options.metrics(), registry, facts.get(), liveness::problem);
    if (!options.leaderElection()) {
      sweep.begin();
    }
    config.ifPresent(
        file -> file.onChange(() -> reconcilers.forEach(DriverReconciler::requeueAll)));
    return program;
  }

  /** JOSDK calls the reconciler for deletions, too: see {@link DriverReconciler}. */
  public static <R extends CustomResource<?, S>, S, O, P extends Plan<R>, W>
      DriverReconciler<R, S, O, P, W> register(
          DriverKind<R, S, O, P, W> kind,
          Kinds kinds,
          Operator operator,
          EventWriter events,
          OutcomeListener listener,
          CleanupListener cleanups,
          KubernetesClient client,
          Clock clock,
          RetryPolicy retries) {
    KindTraits<R> traits = kind.traits();
    var reconciler = new DriverReconciler<>(kind, kinds.ownershipLabels(), events, listener, clock);
    cleanups.listen(traits.kind(), reconciler::onCleanupDone);
    // JOSDK derives a configuration from type arguments of a class, which a generic one has not
    operator.register(
        reconciler,
        new ResolvedControllerConfiguration<>(
            traits.controllerName(),
            true,
            reconciler.getClass().getName(),
            retries.retry().get(),
            retries.limiter(),
            MAX_INTERVAL,
            null,
            Map.of(),
            traits.fieldManager(),
            operator.getConfigurationService(),
            informer(traits, client),
            true,
            null));
    return reconciler;
  }

  private static <R extends HasMetadata> InformerConfiguration<R> informer(
      KindTraits<R> traits, KubernetesClient client) {
    var informer = InformerConfiguration.builder(traits.type());
    if (traits.owned().compact()) {
      informer.withItemStore(
          new CompactStore<>(traits.type(), client.getKubernetesSerialization()));
    }
    return informer.buildForController();
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
      operator.start();
    } catch (OperatorException e) {
      close();
      throw new FatalException(
          "cannot watch the cluster: %s; are the CRDs of deploy/crd installed and may this account"
                  .formatted(StartFailure.reason(e))
              + " read what deploy/operator/pmem-csi-operator.yaml allows?",
          e);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
    LOG.atInfo()
        .addKeyValue("version", Version.current())
        .addKeyValue("kubernetes", facts.version())
        .addKeyValue("namespace", facts.namespace())
        .addKeyValue("image", facts.defaultImage())
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
    operator.stop();
    lease.release(client);
    if (endpoint != null) {
      endpoint.close();
    }
    workers.shutdownNow();
    if (ownClient) {
      client.close();
    }
    LOG.atInfo().log("PMEM-CSI operator stopped.");
  }

  private Map<String, Page> pages(PrometheusRegistry registry, Supplier<Optional<String>> problem) {
    var pages = new HashMap<>(Pages.metrics(METRICS, registry));
    pages.put("/healthz", Pages.health(problem));
    pages.put("/readyz", Pages.health(this::notReady));
    return pages;
  }

  private Optional<String> notReady() {
    return watches()
        ? config
            .flatMap(ConfigFile::problem)
            .map("the configuration file is wrong, that from before is used: "::concat)
        : Optional.of("caches are not filled");
  }

  private boolean watches() {
    return operator.getRuntimeInfo().isStarted()
        && operator.getRuntimeInfo().allEventSourcesAreHealthy();
  }

  private static KnownFacts facts(
      KubernetesClient client, String namespace, String image, Clock clock) {
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
