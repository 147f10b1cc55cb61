package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.pmemcsi.api.SharedSpec;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.controller.KindTraits;
import io.pmemcsi.operator.deletion.DeletionGuard;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What every kind of PMEM-CSI resource plugs into the skeleton in the same way.
 *
 * @param <R> the kind
 * @param <O> what a decision depends on
 */
public interface PmemDriverKind<
        R extends CustomResource<? extends SharedSpec, PmemCSIDeploymentStatus>, O>
    extends DriverKind<R, PmemCSIDeploymentStatus, O, PmemPlan<R>, RunningDriver> {

  PmemDrivers<R> drivers();

  @Override
  default PmemDrivers<R> status() {
    return drivers();
  }

  @Override
  default KindTraits<R> traits() {
    return drivers().traits();
  }

  @Override
  default Optional<String> driverName(R resource) {
    return Optional.of(drivers().driverName(resource));
  }

  @Override
  default List<EventSource<?, R>> eventSources(
      EventSourceContext<R> context, Consumer<ResourceID> requeue) {
    return drivers().eventSources(context, requeue);
  }

  @Override
  default DeletionGuard guard() {
    return drivers().guard();
  }

  @Override
  default @Nullable String deletionPolicy(R resource) {
    return resource.getSpec().deletionPolicy();
  }

  @Override
  default HasMetadata anchor(R resource) {
    return new CSIDriverBuilder()
        .withNewMetadata()
        .withName(drivers().driverName(resource))
        .endMetadata()
        .build();
  }

  @Override
  default Optional<Duration> requeueAfter(PmemPlan<R> plan, RunningDriver driver) {
    return driver.requeueAfter().or(plan::requeueAfter);
  }

  @Override
  default void forget(R resource) {
    drivers().watches().forget(resource);
  }
}
