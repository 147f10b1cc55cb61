package io.pmemcsi.operator.metrics;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.javaoperatorsdk.operator.processing.GroupVersionKind;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.pmemcsi.operator.apply.Outcome;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.UnknownSnapshot;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** All metrics of the operator. */
public final class OperatorMetrics implements Metrics, OutcomeListener {

  private static final String PREFIX = "pmem_csi_operator_";

  /** What the metrics show of a resource. */
  private record ResourceState(
      String phase, Optional<Instant> certificateExpires, Optional<Instant> deletion) {}

  private final Map<Identity, ResourceState> states = new ConcurrentHashMap<>();
  private final Map<Identity, AtomicLong> reconciles = new ConcurrentHashMap<>();
  private final AtomicLong finished = new AtomicLong();
  private final ThreadLocal<Boolean> started = ThreadLocal.withInitial(() -> false);
  private final Counter events;
  private final Counter runs;
  private final Counter errors;
  private final Counter applied;
  private final Counter pruned;
  private final Counter conflicts;
  private final Counter rescheduled;
  private final Histogram duration;
  private final Gauge running;
  private final Gauge waiting;
  private final SubResources subResources;

  /**
   * Registers all metrics.
   *
   * @param fieldManager under which the operator writes objects
   */
  public OperatorMetrics(PrometheusRegistry registry, String fieldManager) {
    subResources = new SubResources(registry, fieldManager);
    events = counter(registry, "events", "Events that triggered a reconciliation.");
    runs = counter(registry, "reconciles", "Reconciliations that were started.", "kind");
    errors = counter(registry, "reconcile_errors", "Reconciliations that failed.", "kind");
    applied =
        counter(
            registry,
            "objects_applied",
            "Objects that the operator created, updated or recreated.",
            "kind");
    pruned =
        counter(
            registry,
            "objects_pruned",
            "Objects that the operator deleted because they are no longer desired.",
            "kind");
    conflicts =
        counter(
            registry,
            "object_conflicts",
            "Objects that have a desired name but belong to another owner, each time they are found.",
            "kind");
    rescheduled =
        counter(
            registry,
            "rescheduled_claims",
            "Claims of drivers without controller whose selected node was removed because it does"
                + " not run the driver.");
    duration =
        Histogram.builder()
            .name(PREFIX + "reconcile_duration_seconds")
            .help("Duration of reconciliations.")
            .classicOnly()
            .register(registry);
    running = gauge(registry, "reconciles_running", "Reconciliations in progress.");
    waiting = gauge(registry, "queue_length", "Resources that wait for a reconciliation.");
    registry.register(this::phases);
    registry.register(
        () ->
            timestamps(
                "certificate_expiry_timestamp_seconds",
                "Unix time at which the certificates of a driver's controller expire.",
                ResourceState::certificateExpires));
    registry.register(
        () ->
            timestamps(
                "deletion_timestamp_seconds",
                "Unix time at which the deletion of a resource that still exists was requested.",
                ResourceState::deletion));
    registry.register(this::upstreamReconciles);
  }

  @Override
  public void receivedEvent(Event event, Map<String, Object> metadata) {
    events.inc();
  }

  @Override
  public void reconcileCustomResource(
      HasMetadata resource, @Nullable RetryInfo retry, Map<String, Object> metadata) {
    waiting.inc();
  }

  @Override
  public void reconciliationExecutionStarted(HasMetadata resource, Map<String, Object> metadata) {
    started.set(true);
    waiting.dec();
    running.inc();
    runs.labelValues(resource.getKind()).inc();
    if (resource.getMetadata().getNamespace() == null) {
      // the metric has no namespace label, so only cluster-scoped resources are unique
      reconciles.computeIfAbsent(Identity.of(resource), key -> new AtomicLong()).incrementAndGet();
    }
  }

  @Override
  public void reconciliationExecutionFinished(HasMetadata resource, Map<String, Object> metadata) {
    if (started.get()) {
      running.dec();
    } else {
      // a resource that was deleted while queued finishes without a start
      waiting.dec();
    }
    started.remove();
    finished.incrementAndGet();
  }

  @Override
  public void failedReconciliation(
      HasMetadata resource, Exception exception, Map<String, Object> metadata) {
    errors.labelValues(resource.getKind()).inc();
  }

  @Override
  public void cleanupDoneFor(ResourceID resource, Map<String, Object> metadata) {
    if (metadata.get(Constants.RESOURCE_GVK_KEY) instanceof GroupVersionKind kind) {
      String namespace = resource.getNamespace().orElse("");
      forget(
          identity ->
              identity.kind().equals(kind.getKind())
                  && identity.namespace().equals(namespace)
                  && identity.name().equals(resource.getName()));
    }
  }

  @Override
  public <T> T timeControllerExecution(ControllerExecution<T> execution) throws Exception {
    long start = System.nanoTime();
    try {
      return execution.execute();
    } finally {
      duration.observe((System.nanoTime() - start) / 1e9);
    }
  }

  @Override
  public void applied(HasMetadata resource, Outcome outcome) {
    String kind = resource.getKind();
    applied.labelValues(kind).inc(outcome.applied().size() + (double) outcome.recreated().size());
    pruned.labelValues(kind).inc(outcome.pruned().size());
    conflicts.labelValues(kind).inc(outcome.conflicts().size());
  }

  @Override
  public void ownedObjects(HasMetadata resource, List<HasMetadata> objects) {
    subResources.set(Identity.of(resource), objects);
  }

  @Override
  public void status(HasMetadata resource, String phase, Optional<Instant> certificateExpires) {
    states.put(
        Identity.of(resource),
        new ResourceState(
            phase,
            certificateExpires,
            Optional.ofNullable(resource.getMetadata().getDeletionTimestamp())
                .map(Instant::parse)));
  }

  @Override
  public void deleted(HasMetadata resource) {
    forget(Identity.of(resource)::equals);
  }

  private void forget(Predicate<Identity> which) {
    states.keySet().removeIf(which);
    reconciles.keySet().removeIf(which);
    subResources.forget(which);
  }

  /** How many resources wait for a reconciliation. */
  public long queued() {
    return Math.round(waiting.get());
  }

  /** How many reconciliations have finished. */
  public long finished() {
    return finished.get();
  }

  private GaugeSnapshot phases() {
    var builder =
        GaugeSnapshot.builder().name(PREFIX + "resources").help("Custom resources in a phase.");
    states.entrySet().stream()
        .collect(
            Collectors.groupingBy(
                entry ->
                    Labels.of("kind", entry.getKey().kind(), "phase", entry.getValue().phase()),
                Collectors.counting()))
        .forEach((labels, count) -> builder.dataPoint(sample(labels, count.doubleValue())));
    return builder.build();
  }

  /** A time of each resource that has it. */
  private GaugeSnapshot timestamps(
      String name, String help, Function<ResourceState, Optional<Instant>> time) {
    var builder = GaugeSnapshot.builder().name(PREFIX + name).help(help);
    states.forEach(
        (identity, state) ->
            time.apply(state)
                .ifPresent(
                    at ->
                        builder.dataPoint(
                            sample(
                                Labels.of(
                                    "kind", identity.kind(),
                                    "namespace", identity.namespace(),
                                    "name", identity.name()),
                                (double) at.getEpochSecond()))));
    return builder.build();
  }

  private static GaugeSnapshot.GaugeDataPointSnapshot sample(Labels labels, double value) {
    return GaugeSnapshot.GaugeDataPointSnapshot.builder().labels(labels).value(value).build();
  }

  /** Existing dashboards use this name, without the suffix _total. */
  private UnknownSnapshot upstreamReconciles() {
    var builder =
        UnknownSnapshot.builder()
            .name("pmem_csi_deployment_reconcile")
            .help("Reconciliations of a cluster-scoped resource, for existing dashboards.");
    reconciles.forEach(
        (identity, count) ->
            builder.dataPoint(
                UnknownSnapshot.UnknownDataPointSnapshot.builder()
                    .labels(Labels.of("name", identity.name(), "uid", identity.uid()))
                    .value(count.doubleValue())
                    .build()));
    return builder.build();
  }

  /** The selected node was removed from a claim. */
  public void rescheduled() {
    rescheduled.inc();
  }

  private static Counter counter(
      PrometheusRegistry registry, String name, String help, String... labels) {
    return Counter.builder().name(PREFIX + name).help(help).labelNames(labels).register(registry);
  }

  private static Gauge gauge(PrometheusRegistry registry, String name, String help) {
    return Gauge.builder().name(PREFIX + name).help(help).register(registry);
  }
}
