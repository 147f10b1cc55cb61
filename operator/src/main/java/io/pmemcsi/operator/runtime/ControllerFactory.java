package io.pmemcsi.operator.runtime;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ResolvedControllerConfiguration;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.processing.Controller;
import io.pmemcsi.operator.apply.CompactStore;
import io.pmemcsi.operator.controller.CleanupListener;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.DriverReconciler;
import io.pmemcsi.operator.controller.EventWriter;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.controller.Plan;
import io.pmemcsi.operator.kinds.Kinds;
import io.pmemcsi.operator.metrics.OutcomeListener;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.function.Predicate;

/** Creates the controllers of kinds, which share all of this. */
public record ControllerFactory(
    Kinds kinds,
    Operator operator,
    KubernetesClient client,
    EventWriter events,
    OutcomeListener listener,
    CleanupListener cleanups,
    RetryPolicy retries,
    Clock clock) {

  private static final Duration MAX_INTERVAL = Duration.ofMinutes(10);

  /** Registers every kind with the operator. */
  public void registerAll() {
    kinds.all().forEach(kind -> create(kind, _ -> true, false));
  }

  /**
   * Creates the controller of a kind. JOSDK calls the reconciler for deletions, too: see {@link
   * DriverReconciler}.
   *
   * @param isServed whether the server has a type now
   * @param late whether the operator has started already, so that it cannot register the controller
   */
  <R extends CustomResource<?, S>, S, O, P extends Plan<R>, W> KindController<R, S> create(
      DriverKind<R, S, O, P, W> kind, Predicate<Class<?>> isServed, boolean late) {
    KindTraits<R> traits = kind.traits();
    var reconciler =
        new DriverReconciler<>(kind, kinds.ownershipLabels(), events, listener, isServed, clock);
    cleanups.listen(traits.kind(), reconciler::onCleanupDone);
    // JOSDK derives a configuration from type arguments of a class, which a generic one has not
    var configuration =
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
            informer(traits),
            true,
            null);
    return new KindController<>(
        reconciler,
        late
            ? new Controller<>(reconciler, configuration, client)
            : (Controller<R>) operator.register(reconciler, configuration));
  }

  private <R extends HasMetadata> InformerConfiguration<R> informer(KindTraits<R> traits) {
    var informer = InformerConfiguration.builder(traits.type());
    if (traits.owned().compact()) {
      informer.withItemStore(
          new CompactStore<>(traits.type(), client.getKubernetesSerialization()));
    }
    return informer.buildForController();
  }
}
