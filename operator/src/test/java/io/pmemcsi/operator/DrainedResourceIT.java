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

/**
 * A resource with the update strategy Draining, from its template to its status and its deletion.
 */
@WithKubernetes(perClass = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DrainedResourceIT {

  private static final String ID = "drained";

  private KubernetesClient client;
  private FakeNodes nodes;
  private DrainingFixture fixture;

  @BeforeAll
  void set(Sandbox sandbox) {
    client = sandbox.client();
    nodes = FakeNodes.create(sandbox.cluster(), 2, DrainingFixture.labels(ID)).runPods();
    fixture = DrainingFixture.withOperator(sandbox, ID, nodes.names());
  }

  @AfterAll
  void removeNodes() {
    nodes.close();
  }

  @BeforeEach
  void settle() {
    fixture.ensureResource();
    fixture.settle();
  }

  /** Restores the cluster, also after a failed test. */
  @AfterEach
  void restore() {
    fixture.removeBudgets();
    fixture.resumeKubelets();
    fixture.cordoned().forEach(fixture::uncordon);
    if (fixture.resource().get() != null) {
      patch(
          """
          {"spec": {"driverSocket": "/run/csi/csi.sock", "managementState": "Managed",
            "nodeUpdateStrategy": "Draining", "draining": null}}
          """);
    }
  }

  @Test
  void templateChangeIsRolledOutAcrossARestartOfTheOperator() {
    Map<String, String> before = fixture.driverPods();

    fixture.changeTemplate();
    fixture.runUntil(() -> !fixture.annotated().isEmpty());
    fixture.operator().stop();
    fixture.operator().start();
    fixture.runUntil(() -> isDone(before));

    assertThat(fixture.restartsUnderVolumes()).isEmpty();
    assertThat(fixture.cordoned()).isEmpty();
    assertThat(update())
        .hasValueSatisfying(
            found -> {
              assertThat(found.nodes()).isEqualTo(2);
              assertThat(found.outdated()).isEmpty();
              assertThat(found.paused()).isNull();
            });
  }

  @Test
  void deletionReleasesNodesInProgress() {
    fixture.budget("web-budget");
    fixture.changeTemplate();
    fixture.runUntil(() -> !fixture.cordoned().isEmpty());

    fixture.resource().delete();
    fixture.runUntil(() -> fixture.resource().get() == null);

    assertThat(fixture.cordoned()).isEmpty();
    assertThat(fixture.annotated()).isEmpty();
  }

  /** No other resource triggers the operator. The cordon of a user stays. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nodesOfAResourceThatWasDeletedWithoutAnOperatorAreReleased(boolean leaderElection) {
    String cordonedByUser = nodes.names().getLast();
    fixture.cordon(cordonedByUser);
    fixture.budget("web-budget");
    patch("{\"spec\":{\"draining\":{\"parallelNodes\":2}}}");
    fixture.changeTemplate();
    fixture.runUntil(() -> fixture.annotated().size() == 2);

    fixture.operator().stop();
    fixture.deleteResourceWithoutOperator();
    assertThat(fixture.annotated()).hasSize(2);
    assertThat(fixture.cordoned()).hasSize(2);
    if (leaderElection) {
      fixture.operator().startReplica();
    } else {
      fixture.operator().start();
    }
    try {
      fixture.runUntil(() -> fixture.annotated().isEmpty());

      assertThat(fixture.cordoned()).containsExactly(cordonedByUser);
    } finally {
      // an operator that loses its lease exits, which would end the test process
      fixture.operator().stop();
      fixture.operator().start();
    }
  }

  /** Kubelet reports Failed when containers terminated, and unmounts only then. */
  @Test
  void driverIsNotRestartedWhileAVolumeOfATerminatedPodIsMounted() {
    Map<String, String> before = fixture.driverPods();
    String node = nodes.names().getFirst();
    Pod ended = fixture.endedPod(node);

    fixture.changeTemplate();
    fixture.runUntil(
        () ->
            outdated(node)
                .filter(found -> "Evicting".equals(found.step()))
                .filter(found -> String.valueOf(found.message()).contains("/ended"))
                .filter(found -> Boolean.FALSE.equals(found.safeToRestart()))
                .isPresent());
    Instant observed = Instant.now();
    // a restart of the driver would follow within a second
    fixture.runUntil(() -> Instant.now().isAfter(observed.plusSeconds(3)));
    assertThat(fixture.driverPods()).containsEntry(node, before.get(node));

    fixture.unmounted(ended);
    fixture.runUntil(() -> isDone(before));

    assertThat(fixture.restartsUnderVolumes()).isEmpty();
    assertThat(fixture.cordoned()).isEmpty();
  }

  /** The CSINode entry of the previous pod looks the same as that of the next one. */
  @Test
  void csiNodeEntryOfThePreviousPodDoesNotRegisterTheNewOne() {
    Map<String, String> before = fixture.driverPods();
    fixture.pauseKubelets();

    fixture.changeTemplate();
    fixture.runUntil(
        () ->
            nodes.names().stream()
                .flatMap(node -> outdated(node).stream())
                .anyMatch(
                    found ->
                        "Registering".equals(found.step())
                            && "kubelet has not registered the driver yet (CSINode)"
                                .equals(found.message())));

    fixture.resumeKubelets();
    fixture.runUntil(() -> isDone(before));
    assertThat(fixture.cordoned()).isEmpty();
  }

  @Test
  void invalidResourceStopsTheUpdateAndLeavesNoNodeCordoned() {
    Map<String, String> before = fixture.driverPods();
    HasMetadata budget = fixture.budget("web-budget");
    fixture.changeTemplate();
    fixture.runUntil(() -> fixture.cordoned().size() == 1);
    String inHand = fixture.cordoned().getFirst();

    patch("{\"spec\":{\"driverSocket\":\"/run/../csi.sock\"}}");
    fixture.runUntil(
        () ->
            update()
                .filter(found -> Boolean.TRUE.equals(found.paused()))
                .filter(
                    found ->
                        String.valueOf(found.message())
                            .matches("(?s).*and then no other node: Invalid: .*driverSocket.*"))
                .isPresent());
    assertThat(events()).contains("NodeUpdatePaused");
    // the operator retries after it failed to read the nodes
    fixture.operator().failRead("/api/v1/nodes");
    fixture.runUntil(() -> fixture.operator().hasReadFailed());
    client.resource(budget).delete();
    fixture.runUntil(() -> fixture.annotated().isEmpty());

    assertThat(fixture.cordoned()).isEmpty();
    assertThat(fixture.driverPods().get(inHand)).isNotEqualTo(before.get(inHand));
    String other = nodes.names().stream().filter(name -> !name.equals(inHand)).findFirst().get();
    assertThat(fixture.driverPods()).containsEntry(other, before.get(other));
    fixture.runUntil(
        () ->
            update()
                .map(found -> String.valueOf(found.message()))
                .filter(message -> message.startsWith("Waiting: Invalid: "))
                .isPresent());

    patch("{\"spec\":{\"driverSocket\":\"/run/csi/csi.sock\"}}");
    fixture.runUntil(() -> isDone(before));

    assertThat(fixture.restartsUnderVolumes()).isEmpty();
    assertThat(fixture.cordoned()).isEmpty();
  }

  @Test
  void unmanagedResourceReleasesItsNodes() {
    HasMetadata budget = fixture.budget("web-budget");
    fixture.changeTemplate();
    fixture.runUntil(() -> !fixture.cordoned().isEmpty());

    patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
    fixture.runUntil(() -> fixture.annotated().isEmpty());

    assertThat(fixture.cordoned()).isEmpty();
    // the operator no longer updates the nodes, and the status lists none
    fixture.runUntil(() -> update().filter(found -> found.outdated().isEmpty()).isPresent());
    client.resource(budget).delete();
    patch("{\"spec\":{\"managementState\":\"Managed\"}}");
    fixture.runUntil(() -> fixture.annotated().isEmpty() && updated(2));
  }

  @Test
  void rollingUpdateReplacesDriverPodsDespiteMountedVolumes() {
    Map<String, String> before = fixture.driverPods();
    patch("{\"spec\":{\"nodeUpdateStrategy\":\"Rolling\"}}");
    fixture.changeTemplate();

    fixture.runUntil(() -> isDone(before));

    assertThat(fixture.cordoned()).isEmpty();
    assertThat(fixture.restartsUnderVolumes()).isNotEmpty();
  }

  @Test
  void onDeleteListsOutdatedNodesUntilAUserDeletesTheirPods() {
    Map<String, String> before = fixture.driverPods();
    patch("{\"spec\":{\"nodeUpdateStrategy\":\"OnDelete\"}}");
    fixture.changeTemplate();
    fixture.runUntil(() -> nodes.names().stream().allMatch(this::isListedAsUsed));
    assertThat(fixture.driverPods()).isEqualTo(before);

    String first = nodes.names().getFirst();
    String second = nodes.names().getLast();
    client.pods().withName(before.get(first)).delete();
    fixture.runUntil(() -> outdated(first).isEmpty() && updated(1) && isListedAsUsed(second));
    client.pods().withName(before.get(second)).delete();
    fixture.runUntil(() -> isDone(before));

    assertThat(fixture.cordoned()).isEmpty();
  }

  private boolean isListedAsUsed(String node) {
    return outdated(node)
        .filter(found -> Boolean.FALSE.equals(found.safeToRestart()))
        .filter(found -> String.valueOf(found.message()).startsWith("pods use volumes: "))
        .isPresent();
  }

  private boolean isDone(Map<String, String> before) {
    var pods = new HashSet<>(fixture.driverPods().values());
    pods.retainAll(before.values());
    return pods.isEmpty()
        && fixture.isSettled()
        && fixture.annotated().isEmpty()
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
    return Optional.ofNullable(fixture.resource().get().getStatus().nodeUpdate());
  }

  private List<String> events() {
    String uid = fixture.resource().get().getMetadata().getUid();
    return client.v1().events().list().getItems().stream()
        .filter(event -> uid.equals(event.getInvolvedObject().getUid()))
        .map(Event::getReason)
        .toList();
  }

  private void patch(String json) {
    fixture.resource().patch(PatchContext.of(PatchType.JSON_MERGE), json);
  }
}
