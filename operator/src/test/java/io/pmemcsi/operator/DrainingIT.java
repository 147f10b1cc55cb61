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
 * controllers, scheduler and kubelets, with the operator's real permissions. Each operator crashes
 * after one write, and once before each kind of write, and the next one continues.
 */
@WithKubernetes(perClass = true)
class DrainingIT {

  private static final String ID = "draining";
  private static final Draining TWO = new Draining(2, 600, 600, 600, null);

  private static List<String> nodes;
  private static DrainingFixture fixture;

  private KubernetesClient client;

  @BeforeAll
  static void start(Sandbox sandbox) {
    var hollow = HollowNodes.start(sandbox.cluster(), 5, DrainingFixture.labels(ID));
    sandbox.cleanUp(hollow::close);
    nodes = hollow.names();
    fixture = DrainingFixture.setOnHollowNodes(sandbox, ID, nodes);
  }

  @BeforeEach
  void settle(Sandbox sandbox) {
    client = sandbox.client();
    fixture.settle();
  }

  @AfterEach
  void tidy() {
    nodes.forEach(fixture::uncordon);
  }

  @Test
  void rolloutUpdatesTwoNodesAtATimeAndSurvivesACrashAfterEveryWrite() {
    String cordonedByUser = nodes.getLast();
    fixture.cordon(cordonedByUser);
    Map<String, String> before = fixture.driverPods();
    fixture.changeTemplate();
    var seen = new TreeSet<String>();

    NodeUpdate last =
        fixture.run(
            NodeUpdateStrategy.DRAINING,
            TWO,
            status -> {
              List<String> annotated = fixture.annotated();
              assertThat(annotated).hasSizeLessThanOrEqualTo(2);
              seen.addAll(annotated);
              return fixture.isDone(status) && annotated.isEmpty() && fixture.isSettled();
            });

    assertThat(last.paused()).isNull();
    assertThat(seen).containsExactlyInAnyOrderElementsOf(nodes);
    assertThat(fixture.driverPods()).hasSize(5);
    assertThat(fixture.driverPods().values()).doesNotContainAnyElementsOf(before.values());
    assertThat(fixture.crashes())
        .as("writes before which operators crashed")
        .containsExactlyInAnyOrder("cordon", "annotate", "evict", "restart", "uncordon");
    assertThat(fixture.restartsUnderVolumes()).isEmpty();
    assertThat(fixture.cordoned()).containsExactly(cordonedByUser);
  }

  @Test
  void changedStrategyReleasesNodesAndOnDeleteReportsWhichAreSafe() {
    fixture.changeTemplate();
    fixture.run(NodeUpdateStrategy.DRAINING, TWO, status -> !fixture.cordoned().isEmpty());

    // pods may be rescheduled while the status is computed: eventually it is correct
    NodeUpdate status =
        fixture.run(
            NodeUpdateStrategy.ON_DELETE,
            TWO,
            found ->
                !found.outdated().isEmpty()
                    && fixture.isSettled()
                    && found.outdated().stream()
                        .allMatch(
                            node ->
                                Boolean.valueOf(!fixture.hasVolumes(node.node()))
                                    .equals(node.safeToRestart())));

    assertThat(fixture.cordoned()).isEmpty();
    assertThat(fixture.annotated()).isEmpty();
    assertThat(status.outdated()).hasSizeGreaterThanOrEqualTo(4);

    status.outdated().stream()
        .map(OutdatedNode::node)
        .map(fixture.driverPods()::get)
        .forEach(pod -> client.pods().withName(pod).delete());
    NodeUpdate last =
        fixture.run(
            NodeUpdateStrategy.ON_DELETE,
            TWO,
            found -> Integer.valueOf(5).equals(found.updatedNodes()));
    assertThat(last.outdated()).isEmpty();
  }

  @Test
  void nodesOfADeletedResourceAreReleased() {
    fixture.changeTemplate();
    fixture.run(NodeUpdateStrategy.DRAINING, TWO, status -> !fixture.cordoned().isEmpty());

    fixture.replaceResource();
    fixture.run(NodeUpdateStrategy.ROLLING, TWO, status -> fixture.annotated().isEmpty());

    assertThat(fixture.cordoned()).isEmpty();
  }
}
