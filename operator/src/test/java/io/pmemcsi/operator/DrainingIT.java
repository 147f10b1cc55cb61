package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.NodeUpdateStrategy;
import io.pmemcsi.api.template.OutdatedNode;
import io.pmemcsi.testbed.kubernetes.HollowNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Updates of a driver on five nodes whose pods have volumes, on a real API server with its
 * controllers, scheduler and kubelets, under the operator's real rights. No operator lives longer
 * than one write: each step is taken by a new one, as if the process had been killed after every
 * action, and once before each sort of action.
 */
@WithKubernetes(perClass = true)
class DrainingIT {

  private static final String ID = "draining";
  private static final Draining TWO = new Draining(2, 600, 600, 600, null);

  private static List<String> nodes;
  private static DrainingStage stage;

  private KubernetesClient client;

  @BeforeAll
  static void start(Sandbox sandbox) {
    var hollow = HollowNodes.start(sandbox.cluster(), 5, DrainingStage.labels(ID));
    sandbox.cleanUp(hollow::close);
    nodes = hollow.names();
    stage = DrainingStage.setOnHollowNodes(sandbox, ID, nodes);
  }

  @BeforeEach
  void settle(Sandbox sandbox) {
    client = sandbox.client();
    stage.settle();
  }

  @AfterEach
  void tidy() {
    nodes.forEach(stage::uncordon);
  }

  @Test
  void rollOutGoesTwoNodesAtATimeAndSurvivesDeathAfterEveryWrite() {
    String foreign = nodes.getLast();
    stage.cordon(foreign);
    Map<String, String> before = stage.driverPods();
    stage.changeTemplate();
    var seen = new TreeSet<String>();

    NodeUpdate last =
        stage.run(
            NodeUpdateStrategy.DRAINING,
            TWO,
            status -> {
              List<String> marked = stage.marked();
              assertThat(marked).hasSizeLessThanOrEqualTo(2);
              seen.addAll(marked);
              return stage.isDone(status) && marked.isEmpty() && stage.isSettled();
            });

    assertThat(last.paused()).isNull();
    assertThat(seen).containsExactlyInAnyOrderElementsOf(nodes);
    assertThat(stage.driverPods()).hasSize(5);
    assertThat(stage.driverPods().values()).doesNotContainAnyElementsOf(before.values());
    assertThat(stage.deaths())
        .as("writes before which operators died")
        .containsExactlyInAnyOrder("cordon", "note a step", "evict", "restart", "uncordon");
    assertThat(stage.restartsUnderVolumes()).isEmpty();
    assertThat(stage.cordoned()).containsExactly(foreign);
  }

  @Test
  void changedStrategyReleasesNodesAndOnDeleteSaysWhichAreSafe() {
    stage.changeTemplate();
    stage.run(NodeUpdateStrategy.DRAINING, TWO, status -> !stage.cordoned().isEmpty());

    // pods may be on their way while the status is made: sooner or later it says what is true
    NodeUpdate status =
        stage.run(
            NodeUpdateStrategy.ON_DELETE,
            TWO,
            found ->
                !found.outdated().isEmpty()
                    && stage.isSettled()
                    && found.outdated().stream()
                        .allMatch(
                            node ->
                                Boolean.valueOf(!stage.hasVolumes(node.node()))
                                    .equals(node.safeToRestart())));

    assertThat(stage.cordoned()).isEmpty();
    assertThat(stage.marked()).isEmpty();
    assertThat(status.outdated()).hasSizeGreaterThanOrEqualTo(4);

    status.outdated().stream()
        .map(OutdatedNode::node)
        .map(stage.driverPods()::get)
        .forEach(pod -> client.pods().withName(pod).delete());
    NodeUpdate last =
        stage.run(
            NodeUpdateStrategy.ON_DELETE,
            TWO,
            found -> Integer.valueOf(5).equals(found.updatedNodes()));
    assertThat(last.outdated()).isEmpty();
  }

  @Test
  void nodesOfAVanishedResourceAreReleased() {
    stage.changeTemplate();
    stage.run(NodeUpdateStrategy.DRAINING, TWO, status -> !stage.cordoned().isEmpty());

    stage.replaceResource();
    stage.run(NodeUpdateStrategy.ROLLING, TWO, status -> stage.marked().isEmpty());

    assertThat(stage.cordoned()).isEmpty();
  }
}
