package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class RegistryReaderTest {

  @Test
  void registeredNodesAreReadFromTheMetrics() {
    assertThat(
            RegistryReader.registered(
                """
                # TYPE pmem_nodes gauge
                pmem_nodes 2.0
                # TYPE pmem_csi_node_registered gauge
                pmem_csi_node_registered{node="a.example.com"} 1.0
                pmem_csi_node_registered{node="b"} 1.0
                """))
        .contains(Set.of("a.example.com", "b"));
  }

  @Test
  void controllerWithoutNodesHasNone() {
    assertThat(RegistryReader.registered("# TYPE pmem_csi_node_registered gauge\n"))
        .contains(Set.of());
  }

  @Test
  void nothingIsKnownOfAnEarlierRelease() {
    assertThat(RegistryReader.registered("pmem_nodes 2.0\n")).isEmpty();
  }
}
