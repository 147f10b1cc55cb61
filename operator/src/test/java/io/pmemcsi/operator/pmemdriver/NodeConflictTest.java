package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeConflictTest {

  private static final Map<String, Map<String, String>> NODES =
      Map.of(
          "n1", Map.of("storage", "pmem", "zone", "a"),
          "n2", Map.of("storage", "pmem", "zone", "b"),
          "n3", Map.of("storage", "disk"));

  @Test
  void driversConflictOnNodesThatBothSelect() {
    var conflicts =
        find(
            Map.of("storage", "pmem"),
            peer("other", Map.of("zone", "b"), 100),
            peer("third", Map.of("storage", "disk"), 100));

    assertThat(conflicts).containsExactly(new NodeConflict("other", List.of("n2")));
    assertThat(conflicts.getFirst().describe()).isEqualTo("\"other\" selects the same nodes: n2");
  }

  @Test
  void sameSelectorWithoutNodesIsNoConflict() {
    assertThat(find(Map.of("a", "b"), peer("other", Map.of("a", "b"), 100))).isEmpty();
  }

  @Test
  void emptySelectorConflictsWithAll() {
    assertThat(find(Map.of(), peer("other", Map.of("storage", "disk"), 100)))
        .containsExactly(new NodeConflict("other", List.of("n3")));
  }

  @Test
  void driversThatLeaveMemoryToEachOtherMayShareNodes() {
    var half = peer("half", Map.of("storage", "pmem"), 50);

    DeploymentCondition shared =
        condition(half, peer("other", Map.of("zone", "b"), 50)).orElseThrow();
    assertThat(shared.status()).isEqualTo("True");
    assertThat(shared.message()).isEqualTo("\"other\" selects the same nodes: n2");
    assertThat(NodeSharing.isShared(shared)).isTrue();

    DeploymentCondition overcommitted =
        condition(
                half,
                peer("other", Map.of("zone", "b"), 30),
                peer("third", Map.of("zone", "b"), 21),
                peer("fourth", Map.of("zone", "a"), 50))
            .orElseThrow();
    assertThat(overcommitted.status()).isEqualTo("False");
    assertThat(overcommitted.message())
        .startsWith(
            "\"other\" selects the same nodes: n2; \"third\" selects the same nodes: n2: let"
                + " pmemPercentage");
    assertThat(condition(half, peer("other", Map.of("storage", "disk"), 100))).isEmpty();
  }

  private static List<NodeConflict> find(Map<String, String> selector, PmemPeer... others) {
    return NodeConflict.find(peer("self", selector, 100), List.of(others), NODES);
  }

  private static Optional<DeploymentCondition> condition(PmemPeer self, PmemPeer... others) {
    return NodeSharing.condition(self, List.of(others), NODES, PmemCSIDeploymentStatus.NEW);
  }

  private static PmemPeer peer(String name, Map<String, String> selector, int share) {
    return new PmemPeer("PmemCSIDeployment", name, name, selector, share, "", name);
  }
}
