package io.pmemcsi.operator.kinds.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.pmemcsi.api.template.CSIDriverDeploymentStatus;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.operator.controller.EventMessage;
import io.pmemcsi.operator.controller.Readiness;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TemplateStatusMapperTest {

  private static final Instant T1 = Instant.parse("2030-01-01T00:00:01Z");
  private static final Instant T2 = Instant.parse("2030-01-01T00:00:02Z");

  @Test
  void podsOfTheCurrentGenerationMakeADriverAvailable() {
    assertThat(available(daemonSet(3, 3, 3), deployment(2, 2, 2)).status()).isEqualTo("True");
  }

  @Test
  void objectWithoutStatusIsNotAvailable() {
    DaemonSet fresh = daemonSet(3, 3, 3);
    fresh.setStatus(null);

    assertThat(available(fresh, deployment(1, 1, 1)))
        .satisfies(
            condition -> {
              assertThat(condition.status()).isEqualTo("False");
              assertThat(condition.reason()).isEqualTo("NotStarted");
            });
  }

  @Test
  void statusOfAnOlderGenerationDoesNotCount() {
    Deployment changed = deployment(1, 1, 1);
    changed.getMetadata().setGeneration(9L);

    assertThat(available(daemonSet(3, 3, 3), changed).message())
        .isEqualTo("The Deployment of the controller has not started yet.");
  }

  @Test
  void podsOfAnOlderRevisionAreReported() {
    assertThat(available(daemonSet(3, 1, 3), deployment(1, 1, 1)).message())
        .isEqualTo("2 of 3 driver pods on nodes still run the previous revision.");
  }

  @Test
  void everyShortfallHasALineOfItsOwn() {
    assertThat(available(daemonSet(3, 3, 2), deployment(2, 2, 1)).message())
        .isEqualTo("1 of 2 controller pods are ready.\n2 of 3 driver pods on nodes are ready.");
  }

  @Test
  void timeIsThatOfTheLastChangeOfStatus() {
    var first = TemplateStatusMapper.next(CSIDriverDeploymentStatus.NEW, found(false, "one"), T1);
    var reworded = TemplateStatusMapper.next(first, found(false, "two"), T2);
    var healed = TemplateStatusMapper.next(reworded, found(true, "fine"), T2);

    assertThat(sync(first).lastTransitionTime()).isEqualTo(T1);
    assertThat(sync(reworded).lastTransitionTime()).isEqualTo(T1);
    assertThat(sync(reworded).message()).isEqualTo("two");
    assertThat(sync(healed).lastTransitionTime()).isEqualTo(T2);
  }

  @Test
  void onlyACompleteReconciliationUpdatesTheObservedGeneration() {
    var failed = TemplateStatusMapper.next(CSIDriverDeploymentStatus.NEW, found(false, "one"), T1);
    var done = TemplateStatusMapper.next(failed, found(true, "fine"), T1);

    assertThat(failed.observedGeneration()).isNull();
    assertThat(done.observedGeneration()).isEqualTo(7L);
  }

  @Test
  void readyRequiresAvailableAndSynced() {
    assertThat(readiness(sync("True"), available("True"))).isEqualTo(Readiness.ready("R", "m"));
    assertThat(readiness(sync("False"), available("True")))
        .isEqualTo(Readiness.notReady("S", "why"));
    assertThat(readiness(sync("True"), available("False"))).isEqualTo(Readiness.notReady("R", "m"));
    assertThat(readiness(available("True"))).isEqualTo(Readiness.notReady("Pending", ""));
    assertThat(readiness(sync("True"), available("True"), held()))
        .isEqualTo(Readiness.notReady("VolumesInUse", "a volume"));
  }

  @Test
  void driverThatIsNotManagedIsReadyIfItsPodsAre() {
    assertThat(
            new TemplateStatusMapper()
                .readiness(
                    new CSIDriverDeploymentStatus(
                        1L,
                        List.of(),
                        "Unmanaged",
                        List.of(sync("False"), available("True")),
                        null)))
        .isEqualTo(Readiness.ready("R", "m"));
  }

  private static Readiness readiness(DriverCondition... conditions) {
    return new TemplateStatusMapper()
        .readiness(
            new CSIDriverDeploymentStatus(1L, List.of(), "Managed", List.of(conditions), null));
  }

  private static DriverCondition sync(String status) {
    return new DriverCondition("SyncSuccessful", status, "S", "why");
  }

  private static DriverCondition available(String status) {
    return new DriverCondition("Available", status, "R", "m");
  }

  private static DriverCondition held() {
    return new DriverCondition("DeletionHeld", "True", "VolumesInUse", "a volume");
  }

  @Test
  void statusIsEqualWhenNothingChanged() {
    var first = TemplateStatusMapper.next(CSIDriverDeploymentStatus.NEW, found(true, "fine"), T1);

    assertThat(TemplateStatusMapper.next(first, found(true, "fine"), T2)).isEqualTo(first);
  }

  @Test
  void eventsAreEmittedOnChangesOnly() {
    var failed = TemplateStatusMapper.next(CSIDriverDeploymentStatus.NEW, found(false, "one"), T1);
    var healed = TemplateStatusMapper.next(failed, found(true, "fine"), T2);

    assertThat(TemplateEventMessages.of(CSIDriverDeploymentStatus.NEW, failed))
        .containsExactly(EventMessage.warning("SyncError", "one"));
    assertThat(TemplateEventMessages.of(failed, failed)).isEmpty();
    assertThat(TemplateEventMessages.of(failed, healed))
        .extracting(EventMessage::reason)
        .containsExactly("Synced");
  }

  @Test
  void blockedDeletionRaisesOneEventAndItsConditionEnds() {
    var living = TemplateStatusMapper.next(CSIDriverDeploymentStatus.NEW, found(true, "fine"), T1);
    var held =
        TemplateStatusMapper.next(
            living, found(true, "fine").held(new Hold("one volume", Duration.ofSeconds(1))), T1);
    var failing = TemplateStatusMapper.next(held, found(false, "server down").inDeletion(), T2);
    var going =
        TemplateStatusMapper.next(
            failing, TemplateObservedStatus.removing(8, Optional.empty()), T2);

    assertThat(held.state()).isEqualTo("Removed");
    assertThat(TemplateEventMessages.of(living, held))
        .containsExactly(EventMessage.warning("DeletionHeld", "one volume"));
    assertThat(failing.condition("DeletionHeld")).isEqualTo(held.condition("DeletionHeld"));
    assertThat(TemplateEventMessages.of(failing, held))
        .extracting(EventMessage::reason)
        .doesNotContain("DeletionHeld");
    assertThat(going.condition("DeletionHeld")).isEmpty();
  }

  @Test
  void pausedUpdateOfNodesRaisesOneEvent() {
    var before = TemplateStatusMapper.next(CSIDriverDeploymentStatus.NEW, found(true, "fine"), T1);
    var paused =
        new CSIDriverDeploymentStatus(
            before.observedGeneration(),
            before.children(),
            before.state(),
            before.conditions(),
            new NodeUpdate(null, 2, 1, true, "a budget", List.of()));

    assertThat(TemplateEventMessages.of(before, paused))
        .containsExactly(EventMessage.warning("NodeUpdatePaused", "a budget"));
    assertThat(TemplateEventMessages.of(paused, paused)).isEmpty();
  }

  private static DriverCondition sync(CSIDriverDeploymentStatus status) {
    return status.condition(DriverCondition.SYNC_SUCCESSFUL).orElseThrow();
  }

  private static TemplateObservedStatus found(boolean successful, String message) {
    return new TemplateObservedStatus(
        7,
        "Managed",
        successful,
        false,
        List.of(
            successful
                ? TemplateCondition.SYNC_SUCCESSFUL.isTrue(TemplateReason.SYNCED, message)
                : TemplateCondition.SYNC_SUCCESSFUL.isFalse(TemplateReason.INVALID, message)),
        Optional.empty(),
        Optional.empty());
  }

  private static DriverCondition available(DaemonSet nodes, Deployment controller) {
    return Availability.of(Optional.of(nodes), Optional.of(controller), true, _ -> Optional.empty())
        .condition();
  }

  private static DaemonSet daemonSet(int desired, int updated, int ready) {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withGeneration(2L)
        .endMetadata()
        .withNewStatus()
        .withObservedGeneration(2L)
        .withDesiredNumberScheduled(desired)
        .withUpdatedNumberScheduled(updated)
        .withNumberReady(ready)
        .endStatus()
        .build();
  }

  private static Deployment deployment(int desired, int updated, int ready) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withGeneration(2L)
        .endMetadata()
        .withNewSpec()
        .withReplicas(desired)
        .endSpec()
        .withNewStatus()
        .withObservedGeneration(2L)
        .withReplicas(desired)
        .withUpdatedReplicas(updated)
        .withReadyReplicas(ready)
        .endStatus()
        .build();
  }
}
