package io.pmemcsi.operator.kinds.pmem;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.events.EventMessage;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PmemStatusTest {

  private static final Instant T1 = Instant.parse("2030-01-01T00:00:01Z");
  private static final Instant T2 = Instant.parse("2030-01-01T00:00:02Z");
  private static final Map<String, String> SELECTOR = Map.of("storage", "pmem");

  @Test
  void objectsWithoutReadyPodsAreInitializing() {
    var status = new PmemStatus().next(PmemCSIDeploymentStatus.NEW, found(daemonSet(3, 3, 2)), T1);

    assertThat(status.phase()).isEqualTo("Initializing");
    assertThat(status.reason()).isEqualTo("2 out of 3 driver pods are ready");
    assertThat(status.lastUpdated()).isEqualTo(T1);
  }

  @Test
  void reasonsOfSeveralComponentsAreSentencesOfTheirOwn() {
    assertThat(waiting("0 of 2 replicas are ready", "0 out of 3 driver pods are ready"))
        .isEqualTo("0 of 2 replicas are ready. 0 out of 3 driver pods are ready");
    assertThat(waiting("Not started yet.", "Not started yet."))
        .isEqualTo("Not started yet. Not started yet.");
    assertThat(waiting("pod \"a\": long words…", "0 out of 3 driver pods are ready"))
        .isEqualTo("pod \"a\": long words… 0 out of 3 driver pods are ready");
  }

  @Test
  void allPodsOfTheCurrentGenerationAreRunning() {
    var status = new PmemStatus().next(PmemCSIDeploymentStatus.NEW, found(daemonSet(3, 3, 3)), T1);

    assertThat(status.phase()).isEqualTo("Running");
  }

  @Test
  void podsOfAnOlderRevisionDoNotCount() {
    assertThat(Components.node(Optional.of(daemonSet(3, 1, 3)), SELECTOR, Optional::empty).status())
        .isEqualTo(DriverComponent.NOT_READY);
  }

  @Test
  void generationThatNobodyHasSeenIsNotReady() {
    DaemonSet workload = daemonSet(3, 3, 3);
    workload.getMetadata().setGeneration(9L);

    assertThat(Components.node(Optional.of(workload), SELECTOR, Optional::empty).reason())
        .isEqualTo("Node daemon set has not started yet.");
  }

  @Test
  void noNodesIsNotReadyAndSaysWhatToDo() {
    assertThat(Components.node(Optional.of(daemonSet(0, 0, 0)), SELECTOR, Optional::empty).reason())
        .contains("No node has the labels {storage=pmem}");
  }

  @Test
  void nothingNewIsTheSameStatus() {
    var first = new PmemStatus().next(PmemCSIDeploymentStatus.NEW, found(daemonSet(1, 1, 1)), T1);

    assertThat(new PmemStatus().next(first, found(daemonSet(1, 1, 1)), T2)).isSameAs(first);
  }

  @Test
  void onlyWhatChangedGetsANewTime() {
    var first = new PmemStatus().next(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 1)), T1);

    var second = new PmemStatus().next(first, found(daemonSet(2, 2, 2)), T2);

    assertThat(second.condition("DriverDeployed").orElseThrow().lastUpdateTime()).isEqualTo(T1);
    assertThat(second.component("Node").orElseThrow().lastUpdated()).isEqualTo(T2);
    assertThat(second.lastUpdated()).isEqualTo(T2);
  }

  @Test
  void failureKeepsWhatIsKnownAboutThePods() {
    var first = new PmemStatus().next(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 2)), T1);

    var second =
        new PmemStatus().next(first, ObservedStatus.failed(2, "image: broken", List.of()), T2);

    assertThat(second.phase()).isEqualTo("Failed");
    assertThat(second.reason()).isEqualTo("image: broken");
    assertThat(second.driverComponents()).isEqualTo(first.driverComponents());
  }

  @Test
  void failureShowsWhatRunsNevertheless() {
    var running = new PmemStatus().next(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 2)), T1);
    ObservedStatus failed = ObservedStatus.failed(2, "image: broken", List.of());

    var second =
        new PmemStatus()
            .next(running, failed.with(leftRunning(running, daemonSet(2, 2, 1)), List.of()), T2);
    var third =
        new PmemStatus().next(second, failed.with(leftRunning(second, null), List.of()), T2);

    assertThat(second.phase()).isEqualTo("Failed");
    assertThat(second.reason()).isEqualTo("image: broken");
    assertThat(second.component("Node").orElseThrow().reason())
        .isEqualTo("1 out of 2 driver pods are ready; no room");
    assertThat(PmemEventMessages.of(second, third)).isEmpty();
    assertThat(third.component("Node").orElseThrow().reason()).contains("has not started");
    assertThat(third.component("Controller")).isEmpty();
  }

  @Test
  void failureOfWhatNeverRanHasNoComponents() {
    assertThat(leftRunning(PmemCSIDeploymentStatus.NEW, null)).isEmpty();
  }

  private static List<DriverComponent> leftRunning(
      PmemCSIDeploymentStatus before, @Nullable DaemonSet nodes) {
    return Components.leftRunning(
        before, Optional.empty(), Optional.ofNullable(nodes), _ -> Optional.of("no room"));
  }

  @Test
  void eventsAreOnePerChange() {
    var fresh = PmemCSIDeploymentStatus.NEW;
    var running = new PmemStatus().next(fresh, found(daemonSet(1, 1, 1)), T1);
    var failed = new PmemStatus().next(running, ObservedStatus.failed(1, "a", List.of()), T2);
    var otherwise = new PmemStatus().next(failed, ObservedStatus.failed(1, "b", List.of()), T2);

    assertThat(PmemEventMessages.of(fresh, running))
        .extracting(EventMessage::reason)
        .containsExactly("Running");
    assertThat(PmemEventMessages.of(running, running)).isEmpty();
    assertThat(PmemEventMessages.of(running, failed))
        .extracting(EventMessage::message)
        .containsExactly("a");
    assertThat(PmemEventMessages.of(failed, failed)).isEmpty();
    assertThat(PmemEventMessages.of(failed, otherwise))
        .extracting(EventMessage::message)
        .containsExactly("b");
  }

  @Test
  void certificatesThatAreUsedThoughSomethingIsWrongWithThemAreAnnouncedOnce() {
    var fresh = PmemCSIDeploymentStatus.NEW;
    var running = new PmemStatus().next(fresh, found(daemonSet(1, 1, 1)), T1);
    ObservedStatus early =
        found(daemonSet(1, 1, 1))
            .and(ObservedStatus.condition("CertsVerified", false, "not valid", "too early"));
    var told = new PmemStatus().next(running, early, T2);

    assertThat(PmemEventMessages.of(running, told))
        .containsExactly(EventMessage.warning("CertsNotVerified", "too early"));
    assertThat(PmemEventMessages.of(told, new PmemStatus().next(told, early, T2))).isEmpty();
    assertThat(PmemEventMessages.of(told, running)).isEmpty();
  }

  private static @Nullable String waiting(String controller, String nodes) {
    var components =
        List.of(
            new DriverComponent("Controller", DriverComponent.NOT_READY, controller, null),
            new DriverComponent("Node", DriverComponent.NOT_READY, nodes, null));
    return new PmemStatus().next(PmemCSIDeploymentStatus.NEW, found(components), T1).reason();
  }

  private static ObservedStatus found(DaemonSet workload) {
    return found(List.of(Components.node(Optional.of(workload), SELECTOR, Optional::empty)));
  }

  private static ObservedStatus found(List<DriverComponent> components) {
    return new ObservedStatus(
        1,
        Optional.empty(),
        List.of(ObservedStatus.condition("DriverDeployed", true, "Driver deployed successfully.")),
        components,
        List.of(),
        Optional.empty());
  }

  private static DaemonSet daemonSet(int wanted, int updated, int ready) {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withGeneration(1L)
        .endMetadata()
        .withNewSpec()
        .withNewTemplate()
        .withNewSpec()
        .withNodeSelector(SELECTOR)
        .endSpec()
        .endTemplate()
        .endSpec()
        .withNewStatus()
        .withObservedGeneration(1L)
        .withDesiredNumberScheduled(wanted)
        .withUpdatedNumberScheduled(updated)
        .withNumberReady(ready)
        .endStatus()
        .build();
  }
}
