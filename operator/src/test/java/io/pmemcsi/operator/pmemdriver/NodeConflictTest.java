package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
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
        NodeConflict.find(
            Map.of("storage", "pmem"),
            Map.of("other", Map.of("zone", "b"), "third", Map.of("storage", "disk")),
            NODES);

    assertThat(conflicts).containsExactly(new NodeConflict("other", List.of("n2")));
    assertThat(conflicts.getFirst().describe()).isEqualTo("\"other\" selects the same nodes: n2");
  }

  @Test
  void sameSelectorWithoutNodesIsNoConflict() {
    assertThat(NodeConflict.find(Map.of("a", "b"), Map.of("other", Map.of("a", "b")), NODES))
        .isEmpty();
  }

  @Test
  void emptySelectorConflictsWithAll() {
    assertThat(NodeConflict.find(Map.of(), Map.of("other", Map.of("storage", "disk")), NODES))
        .containsExactly(new NodeConflict("other", List.of("n3")));
  }
}
