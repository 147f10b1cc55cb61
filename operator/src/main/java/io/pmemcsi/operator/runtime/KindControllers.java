package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.OperatorException;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.DriverReconciler;
import io.pmemcsi.operator.facts.ClusterProbe;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The controllers of the kinds whose CRDs are installed; those of the other kinds start when their
 * CRDs come. While a CRD is missing, the discovery API is polled: a watch of CRDs would need
 * another permission and a cache of all CRDs of the cluster.
 */
final class KindControllers implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(KindControllers.class);
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(3);

  private final Operator operator;
  private final ClusterProbe probe;
  private final Factory factory;
  private final FatalErrorHandler fatal;
  private final Thread poll = Thread.ofVirtual().name("missing-crds").unstarted(this::poll);
  private final List<KindController<?, ?>> controllers = new CopyOnWriteArrayList<>();

  /** Those that JOSDK's operator does not know: it takes none after its start. */
  private final List<KindController<?, ?>> late = new CopyOnWriteArrayList<>();

  /** The kinds without a CRD, by the type of their resources. */
  private final Map<Class<?>, DriverKind<?, ?, ?, ?, ?>> missing = new ConcurrentHashMap<>();

  private boolean started;
  private boolean processing;
  private volatile boolean starting;

  /** Creates the controller of a kind. */
  interface Factory {
    /**
     * Starts nothing.
     *
     * @param late whether the operator has started, so that nothing can be registered with it
     */
    KindController<?, ?> create(DriverKind<?, ?, ?, ?, ?> kind, boolean late);
  }

  /**
   * Nothing is started yet.
   *
   * @param processing whether events are processed from the start; else {@link #beginProcessing}
   */
  KindControllers(
      Operator operator,
      Collection<DriverKind<?, ?, ?, ?, ?>> kinds,
      ClusterProbe probe,
      Factory factory,
      boolean processing,
      FatalErrorHandler fatal) {
    this.operator = operator;
    this.probe = probe;
    this.factory = factory;
    this.processing = processing;
    this.fatal = fatal;
    kinds.forEach(kind -> missing.put(kind.traits().type(), kind));
  }

  /**
   * Starts the controllers that can start; returns when their caches are filled.
   *
   * @throws FatalException if the cluster cannot be watched
   */
  void start() {
    start(served());
    if (!missing.isEmpty()) {
      LOG.atWarn()
          .addKeyValue("crds", names())
          .log("CRDs are not installed; their resources are reconciled as soon as they are.");
      poll.start();
    }
  }

  /** Whether the server has a type: it has all of them but those of missing CRDs. */
  boolean isServed(Class<?> type) {
    return !missing.containsKey(type);
  }

  /** This replica leads from now on. */
  synchronized void beginProcessing() {
    processing = true;
    late.forEach(KindController::startEventProcessing);
  }

  void requeueAll() {
    controllers.stream().map(KindController::reconciler).forEach(DriverReconciler::requeueAll);
  }

  /** Whether every watch works; there may be nothing to watch. */
  boolean watches() {
    return !starting && (controllers.isEmpty() || areHealthy());
  }

  private boolean areHealthy() {
    return operator.getRuntimeInfo().isStarted()
        && controllers.stream().allMatch(KindController::isHealthy);
  }

  /** Why no resource can be reconciled. */
  Optional<String> problem() {
    return controllers.isEmpty() && !missing.isEmpty()
        ? Optional.of("no CRD is installed: apply the files of deploy/crd")
        : Optional.empty();
  }

  @Override
  public void close() {
    poll.interrupt();
    late.forEach(KindController::stop);
    operator.stop();
  }

  private void poll() {
    try {
      while (!missing.isEmpty()) {
        Thread.sleep(POLL_INTERVAL);
        start(servedByNow());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (FatalException e) {
      fatal.report(e);
    } catch (RuntimeException e) {
      fatal.report(new FatalException("cannot reconcile resources of another CRD: " + e, e));
    }
  }

  private List<DriverKind<?, ?, ?, ?, ?>> servedByNow() {
    try {
      return served();
    } catch (KubernetesClientException e) {
      LOG.atDebug().addKeyValue("cause", Reason.of(e)).log("Cannot read which CRDs are installed.");
      return List.of();
    }
  }

  private List<DriverKind<?, ?, ?, ?, ?>> served() {
    return missing.values().stream().filter(kind -> probe.serves(kind.traits().type())).toList();
  }

  private synchronized void start(List<DriverKind<?, ?, ?, ?, ?>> served) {
    if (served.isEmpty()) {
      return;
    }
    starting = true;
    try {
      startControllers(served);
    } catch (OperatorException e) {
      throw new FatalException(
          "cannot watch the cluster: %s; are the CRDs of deploy/crd installed and may this account"
                  .formatted(StartFailure.reason(e))
              + " read what deploy/operator/pmem-csi-operator.yaml allows?",
          e);
    } finally {
      starting = false;
    }
  }

  private void startControllers(List<DriverKind<?, ?, ?, ?, ?>> served) {
    served.forEach(kind -> missing.remove(kind.traits().type()));
    for (KindController<?, ?> before : controllers) {
      served.forEach(kind -> before.onServed(kind.traits().type()));
    }
    List<KindController<?, ?>> added =
        served.stream().<KindController<?, ?>>map(kind -> factory.create(kind, started)).toList();
    controllers.addAll(added);
    if (!started) {
      operator.start();
      started = true;
      return;
    }
    added.forEach(KindController::start);
    late.addAll(added);
    if (processing) {
      added.forEach(KindController::startEventProcessing);
    }
    LOG.atInfo()
        .addKeyValue("kinds", served.stream().map(kind -> kind.traits().title()).sorted().toList())
        .log("CRDs were installed; their resources are reconciled now.");
  }

  private String names() {
    return missing.keySet().stream()
        .map(type -> HasMetadata.getFullResourceName(type.asSubclass(HasMetadata.class)))
        .sorted()
        .collect(Collectors.joining(", "));
  }
}
