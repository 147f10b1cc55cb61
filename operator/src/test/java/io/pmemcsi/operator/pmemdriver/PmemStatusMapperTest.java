package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.DriverComponent;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.controller.EventMessage;
import io.pmemcsi.operator.controller.Problem;
import io.pmemcsi.operator.deletion.DeletionDecision.Hold;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PmemStatusMapperTest {

  private static final Instant T1 = Instant.parse("2030-01-01T00:00:01Z");
  private static final Instant T2 = Instant.parse("2030-01-01T00:00:02Z");
  private static final List<ComponentState> NOTHING_RUNS = List.of();
  private static final Map<String, String> SELECTOR = Map.of("storage", "pmem");

  @Test
  void objectsWithoutReadyPodsAreInitializing() {
    var status = PmemStatusMapper.next(PmemCSIDeploymentStatus.NEW, found(daemonSet(3, 3, 2)), T1);

    assertThat(status.phase()).isEqualTo("Initializing");
    assertThat(status.reason()).isEqualTo("2 out of 3 driver pods are ready");
    assertThat(status.lastUpdated()).isEqualTo(T1);
  }

  @Test
  void reasonsOfSeveralComponentsAreSeparateSentences() {
    assertThat(waiting("0 of 2 replicas are ready", "0 out of 3 driver pods are ready"))
        .isEqualTo("0 of 2 replicas are ready. 0 out of 3 driver pods are ready");
    assertThat(waiting("Not started yet.", "Not started yet."))
        .isEqualTo("Not started yet. Not started yet.");
    assertThat(waiting("pod \"a\": long words…", "0 out of 3 driver pods are ready"))
        .isEqualTo("pod \"a\": long words… 0 out of 3 driver pods are ready");
  }

  @Test
  void allPodsOfTheCurrentGenerationAreRunning() {
    var status = PmemStatusMapper.next(PmemCSIDeploymentStatus.NEW, found(daemonSet(3, 3, 3)), T1);

    assertThat(status.phase()).isEqualTo("Running");
  }

  @Test
  void podsOfAnOlderRevisionDoNotCount() {
    assertThat(
            ComponentState.node(Optional.of(daemonSet(3, 1, 3)), SELECTOR, Optional::empty)
                .shown()
                .status())
        .isEqualTo(DriverComponent.NOT_READY);
  }

  @Test
  void generationThatIsNotObservedYetIsNotReady() {
    DaemonSet workload = daemonSet(3, 3, 3);
    workload.getMetadata().setGeneration(9L);

    assertThat(
            ComponentState.node(Optional.of(workload), SELECTOR, Optional::empty).shown().reason())
        .isEqualTo("Node daemon set has not started yet.");
  }

  @Test
  void noNodesIsNotReadyAndTheReasonSaysWhatToDo() {
    assertThat(
            ComponentState.node(Optional.of(daemonSet(0, 0, 0)), SELECTOR, Optional::empty)
                .shown()
                .reason())
        .contains("No node has the labels {storage=pmem}");
  }

  @Test
  void statusIsEqualWhenNothingChanged() {
    var first = PmemStatusMapper.next(PmemCSIDeploymentStatus.NEW, found(daemonSet(1, 1, 1)), T1);

    assertThat(PmemStatusMapper.next(first, found(daemonSet(1, 1, 1)), T2)).isSameAs(first);
  }

  @Test
  void onlyChangedConditionsGetANewTime() {
    var first = PmemStatusMapper.next(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 1)), T1);

    var second = PmemStatusMapper.next(first, found(daemonSet(2, 2, 2)), T2);

    assertThat(second.condition("DriverDeployed").orElseThrow().lastUpdateTime()).isEqualTo(T1);
    assertThat(second.component("Node").orElseThrow().lastUpdated()).isEqualTo(T2);
    assertThat(second.lastUpdated()).isEqualTo(T2);
  }

  @Test
  void readyFollowsThePhaseAndKeepsTheTimeOfItsLastTransition() {
    var starting = ready(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 1)), T1);
    var broken = ready(starting, failed(2, "image: broken", NOTHING_RUNS), T2);
    var running = ready(broken, found(daemonSet(2, 2, 2)), T2);

    assertThat(condition(starting, "Ready"))
        .isEqualTo(
            new DeploymentCondition(
                "Ready", "False", "Initializing", "1 out of 2 driver pods are ready", T1, T1, 1L));
    assertThat(condition(broken, "Ready"))
        .isEqualTo(
            new DeploymentCondition("Ready", "False", "Failed", "image: broken", T2, T1, 1L));
    assertThat(condition(running, "Ready").status()).isEqualTo("True");
    assertThat(condition(running, "Ready").lastTransitionTime()).isEqualTo(T2);
    assertThat(ready(running, found(daemonSet(2, 2, 2)), T2)).isSameAs(running);
  }

  @Test
  void driverThatIsNotManagedIsReadyIfItsPodsAre() {
    var running = ready(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 2)), T1);
    var unmanaged = ready(running, unmanaged(daemonSet(2, 2, 2)), T2);
    var failing = ready(unmanaged, unmanaged(daemonSet(2, 2, 1)), T2);

    assertThat(unmanaged.phase()).isEqualTo("Unmanaged");
    assertThat(condition(unmanaged, "Ready").status()).isEqualTo("True");
    assertThat(condition(unmanaged, "Ready").lastTransitionTime()).isEqualTo(T1);
    assertThat(PmemEventMessages.of(running, unmanaged))
        .extracting(EventMessage::reason)
        .containsExactly("Unmanaged");
    assertThat(condition(failing, "Ready").status()).isEqualTo("False");
    assertThat(failing.reason())
        .contains("managementState is Unmanaged. 1 out of 2 driver pods are ready");
    assertThat(PmemEventMessages.of(unmanaged, failing)).isEmpty();
  }

  private static ObservedStatus unmanaged(DaemonSet workload) {
    var node = ComponentState.node(Optional.of(workload), SELECTOR, Optional::empty);
    return ObservedStatus.unmanaged(
        1, Optional.empty(), Optional.empty(), new RunningDriver(List.of(node), List.of()));
  }

  @Test
  void deletionThatIsHeldIsNotReady() {
    var held =
        ready(
            PmemCSIDeploymentStatus.NEW,
            found(daemonSet(2, 2, 2)).held(new Hold("one volume", Duration.ofSeconds(1))),
            T1);

    assertThat(condition(held, "Ready").status()).isEqualTo("False");
    assertThat(condition(held, "Ready").reason()).isEqualTo("VolumesInUse");
    assertThat(condition(held, "Ready").message()).isEqualTo("one volume");
  }

  /** As the skeleton does for every kind. */
  private static PmemCSIDeploymentStatus ready(
      PmemCSIDeploymentStatus previous, ObservedStatus observed, Instant now) {
    var mapper = new PmemStatusMapper();
    var next = observed.next(previous, now);
    return mapper.withReady(next, mapper.readiness(next), 1, now);
  }

  private static DeploymentCondition condition(PmemCSIDeploymentStatus status, String type) {
    return status.condition(type).orElseThrow();
  }

  @Test
  void failureKeepsWhatIsKnownAboutThePods() {
    var first = PmemStatusMapper.next(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 2)), T1);

    var second = PmemStatusMapper.next(first, failed(2, "image: broken", NOTHING_RUNS), T2);

    assertThat(second.phase()).isEqualTo("Failed");
    assertThat(second.reason()).isEqualTo("image: broken");
    assertThat(second.driverComponents()).isEqualTo(first.driverComponents());
  }

  @Test
  void failureShowsRunningComponents() {
    var running = PmemStatusMapper.next(PmemCSIDeploymentStatus.NEW, found(daemonSet(2, 2, 2)), T1);

    var second =
        PmemStatusMapper.next(
            running, failed(2, "image: broken", leftRunning(running, daemonSet(2, 2, 1))), T2);
    var third =
        PmemStatusMapper.next(second, failed(2, "image: broken", leftRunning(second, null)), T2);

    assertThat(second.phase()).isEqualTo("Failed");
    assertThat(second.reason()).isEqualTo("image: broken");
    assertThat(second.component("Node").orElseThrow().reason())
        .isEqualTo("1 out of 2 driver pods are ready; not schedulable");
    assertThat(PmemEventMessages.of(second, third)).isEmpty();
    assertThat(third.component("Node").orElseThrow().reason()).contains("has not started");
    assertThat(third.component("Controller")).isEmpty();
  }

  @Test
  void failureBeforeTheFirstDeploymentHasNoComponents() {
    assertThat(leftRunning(PmemCSIDeploymentStatus.NEW, null)).isEmpty();
  }

  private static List<ComponentState> leftRunning(
      PmemCSIDeploymentStatus before, @Nullable DaemonSet nodes) {
    return ComponentState.leftRunning(
        before,
        ControllerWorkload.DEPLOYMENT,
        Optional.empty(),
        Optional.ofNullable(nodes),
        _ -> Optional.of("not schedulable"));
  }

  @Test
  void eventsAreOnePerChange() {
    var fresh = PmemCSIDeploymentStatus.NEW;
    var running = PmemStatusMapper.next(fresh, found(daemonSet(1, 1, 1)), T1);
    var failed = PmemStatusMapper.next(running, failed(1, "a", NOTHING_RUNS), T2);
    var otherwise = PmemStatusMapper.next(failed, failed(1, "b", NOTHING_RUNS), T2);

    assertThat(PmemEventMessages.of(fresh, running))
        .extracting(EventMessage::reason)
        .containsExactly("NewDeployment", "Running");
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
  void certificatesThatAreUsedAlthoughInvalidRaiseOneEvent() {
    var fresh = PmemCSIDeploymentStatus.NEW;
    var running = PmemStatusMapper.next(fresh, found(daemonSet(1, 1, 1)), T1);
    ObservedStatus early =
        found(daemonSet(1, 1, 1))
            .with(PmemCondition.CERTS_VERIFIED.isFalse("not valid", "too early"));
    var reported = PmemStatusMapper.next(running, early, T2);

    assertThat(PmemEventMessages.of(running, reported))
        .containsExactly(EventMessage.warning("CertsNotVerified", "too early"));
    assertThat(PmemEventMessages.of(reported, PmemStatusMapper.next(reported, early, T2)))
        .isEmpty();
    assertThat(PmemEventMessages.of(reported, running)).isEmpty();
  }

  private static @Nullable String waiting(String controller, String nodes) {
    var components = List.of(notReady("Controller", controller), notReady("Node", nodes));
    return PmemStatusMapper.next(PmemCSIDeploymentStatus.NEW, found(components), T1).reason();
  }

  private static ComponentState notReady(String component, String reason) {
    return new ComponentState(
        new DriverComponent(component, DriverComponent.NOT_READY, reason, null), true);
  }

  private static ObservedStatus failed(
      long generation, String message, List<ComponentState> components) {
    return ObservedStatus.of(
        generation,
        List.of(),
        Optional.empty(),
        new RunningDriver(components, List.of()),
        Optional.of(new Problem(Problem.Cause.INVALID, message)));
  }

  private static ObservedStatus found(DaemonSet workload) {
    return found(List.of(ComponentState.node(Optional.of(workload), SELECTOR, Optional::empty)));
  }

  private static ObservedStatus found(List<ComponentState> components) {
    return new ObservedStatus(
        1,
        Optional.empty(),
        List.of(PmemCondition.DRIVER_DEPLOYED.isTrue("Driver deployed successfully.")),
        components,
        List.of(),
        Optional.empty(),
        Optional.empty(),
        ObservedStatus.Mode.MANAGED);
  }

  private static DaemonSet daemonSet(int desired, int updated, int ready) {
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
        .withDesiredNumberScheduled(desired)
        .withUpdatedNumberScheduled(updated)
        .withNumberReady(ready)
        .endStatus()
        .build();
  }
}
