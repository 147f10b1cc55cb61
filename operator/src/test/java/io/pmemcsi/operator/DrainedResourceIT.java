package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.OutdatedNode;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A resource with the update strategy Draining, from its template to its status and its end. */
@WithKubernetes(perClass = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DrainedResourceIT {

  private static final String ID = "drained";

  private KubernetesClient client;
  private FakeNodes nodes;
  private DrainingStage stage;

  @BeforeAll
  void set(Sandbox sandbox) {
    client = sandbox.client();
    nodes = FakeNodes.create(sandbox.cluster(), 2, DrainingStage.labels(ID)).runPods();
    stage = DrainingStage.withOperator(sandbox, ID, nodes.names());
  }

  @AfterAll
  void removeNodes() {
    nodes.close();
  }

  @BeforeEach
  void settle() {
    stage.ensureResource();
    stage.settle();
  }

  /** Whatever a test has left behind, also when it failed. */
  @AfterEach
  void restore() {
    stage.removeBudgets();
    stage.seeingKubelets();
    stage.cordoned().forEach(stage::uncordon);
    if (stage.resource().get() != null) {
      patch(
          """
          {"spec": {"driverSocket": "/run/csi/csi.sock", "managementState": "Managed",
            "nodeUpdateStrategy": "Draining", "draining": null}}
          """);
    }
  }

  @Test
  void changedTemplateReachesTheNodesAcrossARestartOfTheOperator() {
    Map<String, String> before = stage.driverPods();

    stage.changeTemplate();
    stage.play(() -> !stage.marked().isEmpty());
    stage.operator().stop();
    stage.operator().start();
    stage.play(() -> isDone(before));

    assertThat(stage.restartsUnderVolumes()).isEmpty();
    assertThat(stage.cordoned()).isEmpty();
    assertThat(update())
        .hasValueSatisfying(
            found -> {
              assertThat(found.nodes()).isEqualTo(2);
              assertThat(found.outdated()).isEmpty();
              assertThat(found.paused()).isNull();
            });
  }

  @Test
  void deletionReleasesNodesThatAreWorkedOn() {
    stage.budget("web-budget");
    stage.changeTemplate();
    stage.play(() -> !stage.cordoned().isEmpty());

    stage.resource().delete();
    stage.play(() -> stage.resource().get() == null);

    assertThat(stage.cordoned()).isEmpty();
    assertThat(stage.marked()).isEmpty();
  }

  /** With no other resource that wakes the operator. Somebody else's cordon stays. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nodesOfAResourceThatVanishedWhileNoOperatorRanAreReleased(boolean leaderElection) {
    String foreign = nodes.names().getLast();
    stage.cordon(foreign);
    stage.budget("web-budget");
    patch("{\"spec\":{\"draining\":{\"parallelNodes\":2}}}");
    stage.changeTemplate();
    stage.play(() -> stage.marked().size() == 2);

    stage.operator().stop();
    stage.loseResource();
    assertThat(stage.marked()).hasSize(2);
    assertThat(stage.cordoned()).hasSize(2);
    if (leaderElection) {
      stage.operator().startReplica();
    } else {
      stage.operator().start();
    }
    try {
      stage.play(() -> stage.marked().isEmpty());

      assertThat(stage.cordoned()).containsExactly(foreign);
    } finally {
      // one that loses its lease ends the process, which is that of the tests
      stage.operator().stop();
      stage.operator().start();
    }
  }

  /** Kubelet says Failed when containers have ended, and unmounts only then. */
  @Test
  void driverIsNotRestartedWhileAPodThatHasEndedIsStillMounted() {
    Map<String, String> before = stage.driverPods();
    String node = nodes.names().getFirst();
    Pod ended = stage.endedPod(node);

    stage.changeTemplate();
    stage.play(
        () ->
            outdated(node)
                .filter(found -> "Evicting".equals(found.step()))
                .filter(found -> String.valueOf(found.message()).contains("/ended"))
                .filter(found -> Boolean.FALSE.equals(found.safeToRestart()))
                .isPresent());
    Instant looked = Instant.now();
    // the step after the pod's leaving would follow within a second
    stage.play(() -> Instant.now().isAfter(looked.plusSeconds(3)));
    assertThat(stage.driverPods()).containsEntry(node, before.get(node));

    stage.unmounted(ended);
    stage.play(() -> isDone(before));

    assertThat(stage.restartsUnderVolumes()).isEmpty();
    assertThat(stage.cordoned()).isEmpty();
  }

  /** The entry that kubelet made for the pod before looks the same as the next one. */
  @Test
  void entryOfTheFormerPodIsNoRegistrationOfTheNewOne() {
    Map<String, String> before = stage.driverPods();
    stage.blindKubelets();

    stage.changeTemplate();
    stage.play(
        () ->
            nodes.names().stream()
                .flatMap(node -> outdated(node).stream())
                .anyMatch(
                    found ->
                        "Registering".equals(found.step())
                            && "kubelet has not registered the driver yet (CSINode)"
                                .equals(found.message())));

    stage.seeingKubelets();
    stage.play(() -> isDone(before));
    assertThat(stage.cordoned()).isEmpty();
  }

  @Test
  void mistakeInTheResourceStopsTheUpdateAndLeavesNoNodeCordoned() {
    Map<String, String> before = stage.driverPods();
    HasMetadata budget = stage.budget("web-budget");
    stage.changeTemplate();
    stage.play(() -> stage.cordoned().size() == 1);
    String inHand = stage.cordoned().getFirst();

    patch("{\"spec\":{\"driverSocket\":\"/run/../csi.sock\"}}");
    stage.play(
        () ->
            update()
                .filter(found -> Boolean.TRUE.equals(found.paused()))
                .filter(
                    found ->
                        String.valueOf(found.message())
                            .matches("(?s).*and then no other node: Invalid: .*driverSocket.*"))
                .isPresent());
    assertThat(events()).contains("NodeUpdatePaused");
    // a look at the nodes that fails is not the last one
    stage.operator().failRead("/api/v1/nodes");
    stage.play(() -> stage.operator().hasReadFailed());
    client.resource(budget).delete();
    stage.play(() -> stage.marked().isEmpty());

    assertThat(stage.cordoned()).isEmpty();
    assertThat(stage.driverPods().get(inHand)).isNotEqualTo(before.get(inHand));
    String other = nodes.names().stream().filter(name -> !name.equals(inHand)).findFirst().get();
    assertThat(stage.driverPods()).containsEntry(other, before.get(other));
    stage.play(
        () ->
            update()
                .map(found -> String.valueOf(found.message()))
                .filter(message -> message.startsWith("Waiting: Invalid: "))
                .isPresent());

    patch("{\"spec\":{\"driverSocket\":\"/run/csi/csi.sock\"}}");
    stage.play(() -> isDone(before));

    assertThat(stage.restartsUnderVolumes()).isEmpty();
    assertThat(stage.cordoned()).isEmpty();
  }

  @Test
  void unmanagedResourceReleasesItsNodes() {
    HasMetadata budget = stage.budget("web-budget");
    stage.changeTemplate();
    stage.play(() -> !stage.cordoned().isEmpty());

    patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
    stage.play(() -> stage.marked().isEmpty());

    assertThat(stage.cordoned()).isEmpty();
    // nobody works on the nodes any more, and nothing says so
    stage.play(() -> update().filter(found -> found.outdated().isEmpty()).isPresent());
    client.resource(budget).delete();
    patch("{\"spec\":{\"managementState\":\"Managed\"}}");
    stage.play(() -> stage.marked().isEmpty() && updated(2));
  }

  @Test
  void rollingReplacesDriverPodsWhateverIsMounted() {
    Map<String, String> before = stage.driverPods();
    patch("{\"spec\":{\"nodeUpdateStrategy\":\"Rolling\"}}");
    stage.changeTemplate();

    stage.play(() -> isDone(before));

    assertThat(stage.cordoned()).isEmpty();
    assertThat(stage.restartsUnderVolumes()).isNotEmpty();
  }

  @Test
  void onDeleteListsWhoIsLeftUntilSomebodyDeletesTheirPods() {
    Map<String, String> before = stage.driverPods();
    patch("{\"spec\":{\"nodeUpdateStrategy\":\"OnDelete\"}}");
    stage.changeTemplate();
    stage.play(() -> nodes.names().stream().allMatch(this::isListedAsUsed));
    assertThat(stage.driverPods()).isEqualTo(before);

    String first = nodes.names().getFirst();
    String second = nodes.names().getLast();
    client.pods().withName(before.get(first)).delete();
    stage.play(() -> outdated(first).isEmpty() && updated(1) && isListedAsUsed(second));
    client.pods().withName(before.get(second)).delete();
    stage.play(() -> isDone(before));

    assertThat(stage.cordoned()).isEmpty();
  }

  private boolean isListedAsUsed(String node) {
    return outdated(node)
        .filter(found -> Boolean.FALSE.equals(found.safeToRestart()))
        .filter(found -> String.valueOf(found.message()).startsWith("pods use volumes: "))
        .isPresent();
  }

  private boolean isDone(Map<String, String> before) {
    var pods = new HashSet<>(stage.driverPods().values());
    pods.retainAll(before.values());
    return pods.isEmpty()
        && stage.isSettled()
        && stage.marked().isEmpty()
        && update().filter(found -> found.outdated().isEmpty()).isPresent()
        && updated(2);
  }

  private boolean updated(int number) {
    return update().map(NodeUpdate::updatedNodes).filter(found -> found == number).isPresent();
  }

  private Optional<OutdatedNode> outdated(String node) {
    return update().stream()
        .flatMap(found -> found.outdated().stream())
        .filter(found -> found.node().equals(node))
        .findFirst();
  }

  private Optional<NodeUpdate> update() {
    return Optional.ofNullable(stage.resource().get().getStatus().nodeUpdate());
  }

  private List<String> events() {
    String uid = stage.resource().get().getMetadata().getUid();
    return client.v1().events().list().getItems().stream()
        .filter(event -> uid.equals(event.getInvolvedObject().getUid()))
        .map(Event::getReason)
        .toList();
  }

  private void patch(String json) {
    stage.resource().patch(PatchContext.of(PatchType.JSON_MERGE), json);
  }
}
