package io.pmemcsi.driver.registry;

import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.registry.Placement.NodeCapacity;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PlacementTest {

  private static final DriverName DRIVER = new DriverName("pmem-csi.intel.com");
  private static final Map<String, NodeCapacity> CAPACITIES =
      Map.of(
          "a",
          new NodeCapacity(100, 50),
          "b",
          new NodeCapacity(300, 20),
          "c",
          new NodeCapacity(200, 200));

  private static List<Topology> nodes(String... names) {
    return Arrays.stream(names)
        .map(name -> Topology.newBuilder().putSegments("pmem-csi.intel.com/node", name).build())
        .toList();
  }

  private static Placement placement(List<Topology> requisite, List<Topology> preferred) {
    return Placement.of(
        DRIVER,
        TopologyRequirement.newBuilder()
            .addAllRequisite(requisite)
            .addAllPreferred(preferred)
            .build());
  }

  @Test
  void withoutTopologyTheNodeWithMostCapacityIsFirst() {
    assertThat(placement(List.of(), List.of()).order(CAPACITIES, 0)).containsExactly("b", "c", "a");
  }

  @Test
  void nodesWithEqualCapacityAreSortedByName() {
    Map<String, NodeCapacity> equal =
        Map.of("b", new NodeCapacity(1, 1), "a", new NodeCapacity(1, 1));

    assertThat(placement(List.of(), List.of()).order(equal, 1)).containsExactly("a", "b");
  }

  @Test
  void preferredNodesComeFirstInTheirOrder() {
    assertThat(placement(nodes("a", "b", "c"), nodes("c", "a")).order(CAPACITIES, 0))
        .containsExactly("c", "a", "b");
  }

  @Test
  void onlyRequisiteNodesAreUsed() {
    assertThat(placement(nodes("a"), nodes("a", "b")).order(CAPACITIES, 0)).containsExactly("a");
    assertThat(placement(nodes("a", "x"), List.of()).among(List.of("a", "b", "c")))
        .containsExactly("a");
  }

  @Test
  void preferredNodesWithoutRequisiteOnesDoNotExcludeOthers() {
    assertThat(placement(List.of(), nodes("a")).order(CAPACITIES, 0))
        .containsExactly("a", "b", "c");
  }

  @Test
  void nodesWithoutCapacityForTheVolumeAreExcluded() {
    assertThat(placement(List.of(), nodes("b")).order(CAPACITIES, 50)).containsExactly("c", "a");
    assertThat(placement(List.of(), List.of()).order(CAPACITIES, 201)).isEmpty();
  }

  @Test
  void aTopologyOfAnotherDriverIsIgnored() {
    Topology other = Topology.newBuilder().putSegments("zone", "1").build();

    assertThat(placement(List.of(other), List.of(other)).order(CAPACITIES, 0)).hasSize(3);
  }
}
