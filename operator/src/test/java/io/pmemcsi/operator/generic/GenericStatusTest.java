package io.pmemcsi.operator.generic;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.pmemcsi.api.generic.CSIDriverDeploymentStatus;
import io.pmemcsi.api.generic.DriverCondition;
import io.pmemcsi.api.generic.NodeUpdate;
import io.pmemcsi.operator.events.Announcement;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GenericStatusTest {

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
  void podsOfAnOlderRevisionAreSaid() {
    assertThat(available(daemonSet(3, 1, 3), deployment(1, 1, 1)).message())
        .isEqualTo("2 of 3 driver pods on nodes still run the previous revision.");
  }

  @Test
  void everyLackIsSaidInALineOfItsOwn() {
    assertThat(available(daemonSet(3, 3, 2), deployment(2, 2, 1)).message())
        .isEqualTo("1 of 2 controller pods are ready.\n2 of 3 driver pods on nodes are ready.");
  }

  @Test
  void timeIsThatOfTheLastChangeOfStatus() {
    var first = new GenericStatus().next(CSIDriverDeploymentStatus.NEW, found(false, "one"), T1);
    var reworded = new GenericStatus().next(first, found(false, "two"), T2);
    var healed = new GenericStatus().next(reworded, found(true, "fine"), T2);

    assertThat(sync(first).lastTransitionTime()).isEqualTo(T1);
    assertThat(sync(reworded).lastTransitionTime()).isEqualTo(T1);
    assertThat(sync(reworded).message()).isEqualTo("two");
    assertThat(sync(healed).lastTransitionTime()).isEqualTo(T2);
  }

  @Test
  void onlyACompleteRunMovesTheObservedGeneration() {
    var failed = new GenericStatus().next(CSIDriverDeploymentStatus.NEW, found(false, "one"), T1);
    var done = new GenericStatus().next(failed, found(true, "fine"), T1);

    assertThat(failed.observedGeneration()).isNull();
    assertThat(done.observedGeneration()).isEqualTo(7L);
  }

  @Test
  void nothingNewIsTheSameStatus() {
    var first = new GenericStatus().next(CSIDriverDeploymentStatus.NEW, found(true, "fine"), T1);

    assertThat(new GenericStatus().next(first, found(true, "fine"), T2)).isEqualTo(first);
  }

  @Test
  void eventsAreWorthAChangeOnly() {
    var failed = new GenericStatus().next(CSIDriverDeploymentStatus.NEW, found(false, "one"), T1);
    var healed = new GenericStatus().next(failed, found(true, "fine"), T2);

    assertThat(GenericAnnouncements.of(CSIDriverDeploymentStatus.NEW, failed))
        .containsExactly(Announcement.warning("SyncError", "one"));
    assertThat(GenericAnnouncements.of(failed, failed)).isEmpty();
    assertThat(GenericAnnouncements.of(failed, healed))
        .extracting(Announcement::reason)
        .containsExactly("Synced");
  }

  @Test
  void heldDeletionIsAnnouncedOnceAndForgottenWhenItIsOver() {
    var living = new GenericStatus().next(CSIDriverDeploymentStatus.NEW, found(true, "fine"), T1);
    var held = new GenericStatus().next(living, found(true, "fine").held("one volume"), T1);
    var failing = new GenericStatus().next(held, found(false, "server down").inDeletion(), T2);
    var going = new GenericStatus().next(failing, GenericFindings.removing(8), T2);

    assertThat(held.state()).isEqualTo("Removed");
    assertThat(GenericAnnouncements.of(living, held))
        .containsExactly(Announcement.warning("DeletionHeld", "one volume"));
    assertThat(failing.condition("DeletionHeld")).isEqualTo(held.condition("DeletionHeld"));
    assertThat(GenericAnnouncements.of(failing, held))
        .extracting(Announcement::reason)
        .doesNotContain("DeletionHeld");
    assertThat(going.condition("DeletionHeld")).isEmpty();
  }

  @Test
  void pausedUpdateOfNodesIsAnnouncedOnce() {
    var before = new GenericStatus().next(CSIDriverDeploymentStatus.NEW, found(true, "fine"), T1);
    var paused =
        new CSIDriverDeploymentStatus(
            before.observedGeneration(),
            before.children(),
            before.state(),
            before.conditions(),
            new NodeUpdate(null, 2, 1, true, "a budget", List.of()));

    assertThat(GenericAnnouncements.of(before, paused))
        .containsExactly(Announcement.warning("NodeUpdatePaused", "a budget"));
    assertThat(GenericAnnouncements.of(paused, paused)).isEmpty();
  }

  private static DriverCondition sync(CSIDriverDeploymentStatus status) {
    return status.condition(DriverCondition.SYNC_SUCCESSFUL).orElseThrow();
  }

  private static GenericFindings found(boolean successful, String message) {
    return new GenericFindings(
        7,
        "Managed",
        successful,
        false,
        List.of(
            GenericFindings.condition(DriverCondition.SYNC_SUCCESSFUL, successful, "Any", message)),
        Optional.empty(),
        Optional.empty());
  }

  private static DriverCondition available(DaemonSet nodes, Deployment controller) {
    return new Availability(Optional.of(nodes), Optional.of(controller), true).condition();
  }

  private static DaemonSet daemonSet(int wanted, int updated, int ready) {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withGeneration(2L)
        .endMetadata()
        .withNewStatus()
        .withObservedGeneration(2L)
        .withDesiredNumberScheduled(wanted)
        .withUpdatedNumberScheduled(updated)
        .withNumberReady(ready)
        .endStatus()
        .build();
  }

  private static Deployment deployment(int wanted, int updated, int ready) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withGeneration(2L)
        .endMetadata()
        .withNewSpec()
        .withReplicas(wanted)
        .endSpec()
        .withNewStatus()
        .withObservedGeneration(2L)
        .withReplicas(wanted)
        .withUpdatedReplicas(updated)
        .withReadyReplicas(ready)
        .endStatus()
        .build();
  }
}
