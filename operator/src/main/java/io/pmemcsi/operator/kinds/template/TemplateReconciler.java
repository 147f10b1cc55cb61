package io.pmemcsi.operator.kinds.template;

import static io.pmemcsi.api.template.CSIDriverDeploymentStatus.STATE_UNMANAGED;

import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.apply.ApiCluster;
import io.pmemcsi.operator.apply.Engine;
import io.pmemcsi.operator.apply.LabelRetention;
import io.pmemcsi.operator.apply.ObjectRef;
import io.pmemcsi.operator.apply.Outcome;
import io.pmemcsi.operator.apply.Owner;
import io.pmemcsi.operator.controller.BlockedDeletion;
import io.pmemcsi.operator.controller.ErrorReporter;
import io.pmemcsi.operator.controller.StatusPublisher;
import io.pmemcsi.operator.deletion.DeletionDecision;
import io.pmemcsi.operator.deletion.DeletionGuard;
import io.pmemcsi.operator.events.EventWriter;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.metrics.OutcomeListener;
import io.pmemcsi.operator.rollout.draining.NodeUpdates;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The life of a resource: its driver is made and looked after ({@link TemplateReconciliation}),
 * left alone, or removed. It handles deletions itself, because the documented finalizer is not one
 * that the SDK would take.
 */
public final class TemplateReconciler implements Reconciler<CSIDriverDeployment> {

  /** Under which all objects are written. */
  public static final String FIELD_MANAGER = "csi-driver-operator";

  private final TemplateEventSources watches;
  private final StatusPublisher<
          CSIDriverDeployment, CSIDriverDeploymentStatus, TemplateObservedStatus>
      status;
  private final OutcomeListener listener;
  private final DeletionGuard guard;
  private final NodeUpdates nodeUpdates;
  private final TemplateReconciliation driver;

  public TemplateReconciler(
      Supplier<ClusterFacts> facts,
      Supplier<OperatorConfig> config,
      DeletionGuard guard,
      NodeUpdates nodeUpdates,
      EventWriter events,
      OutcomeListener listener,
      Clock clock) {
    this.guard = guard;
    this.nodeUpdates = nodeUpdates;
    this.watches = new TemplateEventSources(config);
    this.status = new StatusPublisher<>(new TemplateStatus(), events, listener, clock);
    this.listener = listener;
    this.driver =
        new TemplateReconciliation(facts, config, guard, nodeUpdates, watches, listener, clock);
  }

  @Override
  public List<EventSource<?, CSIDriverDeployment>> prepareEventSources(
      EventSourceContext<CSIDriverDeployment> context) {
    return watches.eventSources(context);
  }

  /** Has every resource looked at again, with the configuration of now. */
  public void configurationChanged() {
    watches.wakeAll();
  }

  /** Looks after whoever has the name of a resource that is gone and forgotten. */
  public void forgotten(ResourceID id) {
    watches.lookIfThere(id);
  }

  @Override
  public UpdateControl<CSIDriverDeployment> reconcile(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    UpdateControl<CSIDriverDeployment> control = UpdateControl.noUpdate();
    if (context.isPrimaryResourceDeleted()) {
      nodeUpdates.release(resource);
      watches.wakeLosersOf(resource);
      listener.deleted(resource);
      status.forget(resource);
      driver.forget(resource);
      return control;
    }
    ErrorReporter.telling(
            context,
            () -> lookAfter(resource, context),
            failure -> tell(failure, resource, context))
        .ifPresent(control::rescheduleAfter);
    return control;
  }

  private Optional<Duration> lookAfter(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    if (resource.getMetadata().getDeletionTimestamp() != null) {
      return remove(resource, context);
    }
    if (isUnmanaged(resource)) {
      nodeUpdates.release(resource);
      status.publish(resource, unmanaged(resource, context), context.getClient());
      return Optional.empty();
    }
    TemplateReconciliation.ReconcileResult result = driver.walk(resource, context);
    publish(result, result.found(), context);
    return result.again();
  }

  private void tell(
      ErrorReporter.Failure failure,
      CSIDriverDeployment resource,
      Context<CSIDriverDeployment> context) {
    TemplateObservedStatus found =
        driver
            .failed(resource, failure.reason(), failure.message(), Optional.empty(), context)
            .found();
    status.publish(
        resource,
        resource.getMetadata().getDeletionTimestamp() == null ? found : found.inDeletion(),
        context.getClient());
  }

  /** Removes what was made for the resource, or sets it free; then lets the resource go. */
  private Optional<Duration> remove(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    // an update that is under way ends here, whether the driver may go yet or not
    nodeUpdates.release(resource);
    if (!Finalizers.has(resource)) {
      return Optional.empty();
    }
    if (isUnmanaged(resource)) {
      engine(context).release(Owner.of(resource), watches.cluster(context));
      Finalizers.remove(resource, context.getClient());
      return Optional.empty();
    }
    return switch (mayGo(resource, context)) {
      case DeletionDecision.Hold hold -> hold(resource, hold, context);
      case DeletionDecision.Allow _ -> removeObjects(resource, context);
    };
  }

  /** While volumes hold the driver back it is looked after as ever: somebody needs it. */
  private Optional<Duration> hold(
      CSIDriverDeployment resource,
      DeletionDecision.Hold hold,
      Context<CSIDriverDeployment> context) {
    BlockedDeletion.inBackground(resource, context.getClient());
    TemplateReconciliation.ReconcileResult result;
    try {
      result = driver.walk(resource, context);
    } catch (KubernetesClientException e) {
      if (!BlockedDeletion.isEndOfNamespace(e)) {
        throw e;
      }
      result =
          driver.failed(
              resource,
              "NamespaceTerminating",
              ("the namespace %s is being deleted: Kubernetes removes the driver's pods whatever"
                      + " needs them, and lets nobody make them again. Delete the volumes by hand"
                      + " where they are, and then their PersistentVolumes; or force the deletion")
                  .formatted(resource.getMetadata().getNamespace()),
              Optional.empty(),
              context);
    }
    publish(result, result.found().held(hold.message()), context);
    return Optional.of(hold.requeueAfter());
  }

  private Optional<Duration> removeObjects(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    long generation = resource.getMetadata().getGeneration();
    CSIDriverDeployment current =
        status.publish(resource, TemplateObservedStatus.removing(generation), context.getClient());
    Outcome outcome = engine(context).remove(Owner.of(resource), watches.cluster(context));
    listener.applied(resource, outcome);
    if (outcome.complete()) {
      Finalizers.remove(current, context.getClient());
      return Optional.empty();
    }
    status.publish(
        current,
        TemplateObservedStatus.removing(generation)
            .and(
                TemplateObservedStatus.condition(
                    DriverCondition.SYNC_SUCCESSFUL,
                    false,
                    "Waiting",
                    TemplateReconciliation.waiting(outcome))),
        context.getClient());
    return Optional.of(driver.patience(resource));
  }

  private DeletionDecision mayGo(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    if (!hasDriver(resource, watches.cluster(context))) {
      return new DeletionDecision.Allow();
    }
    return new InstalledObjects(resource, context)
            .drivers()
            .endingWith(
                resource.getSpec().driverName(),
                context.getClient().storage().v1().csiDrivers().list().getItems(),
                resource.getMetadata().getUid())
            .stream()
            .map(driver -> guard.decide(resource, resource.getSpec().deletionPolicy(), driver))
            .filter(DeletionDecision.Hold.class::isInstance)
            .findFirst()
            .orElseGet(DeletionDecision.Allow::new);
  }

  /** What an earlier operator made is in no cache, and goes with its owner all the same. */
  private static boolean hasDriver(
      CSIDriverDeployment resource, ApiCluster<CSIDriverDeployment> cluster) {
    var owner = Owner.of(resource);
    return !cluster.ownedBy(owner).isEmpty()
        || cluster
            .find(
                new DaemonSetBuilder()
                    .withNewMetadata()
                    .withName(TemplateDriver.nodeWorkload(owner.name()))
                    .withNamespace(owner.namespace())
                    .endMetadata()
                    .build())
            .filter(found -> TemplateEventSources.MARKS.isOwnedBy(found, owner))
            .isPresent();
  }

  private TemplateObservedStatus unmanaged(
      CSIDriverDeployment resource, Context<CSIDriverDeployment> context) {
    var objects = new InstalledObjects(resource, context);
    return TemplateObservedStatus.unmanaged(
        resource.getMetadata().getGeneration(),
        objects.availability(resource.getSpec().driverControllerTemplate() != null),
        objects
            .update()
            .map(nodeUpdates::planRelease)
            .map(nodeUpdates::execute)
            .map(NodeUpdates.Progress::status));
  }

  private void publish(
      TemplateReconciliation.ReconcileResult result,
      TemplateObservedStatus found,
      Context<CSIDriverDeployment> context) {
    for (ObjectRef object : result.recreated()) {
      status.announce(
          result.resource(),
          TemplateEventMessages.recreated(object),
          String.valueOf(result.resource().getMetadata().getGeneration()));
    }
    status.publish(result.resource(), found, context.getClient());
  }

  /** Asked before anything is checked: a wrong resource can be set aside, too. */
  static boolean isUnmanaged(CSIDriverDeployment resource) {
    return STATE_UNMANAGED.equals(resource.getSpec().managementState());
  }

  static Engine engine(Context<CSIDriverDeployment> context) {
    return new Engine(
        TemplateEventSources.MARKS,
        context.getControllerConfiguration().fieldManager(),
        LabelRetention.DROP,
        context.getClient().getKubernetesSerialization());
  }
}
