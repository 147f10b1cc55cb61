package io.pmemcsi.operator.tools.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeMetricsTest {

  @Test
  void capacityAndErasesAreParsed() {
    assertThat(
            NodeMetrics.parse(
                """
                # HELP pmem_amount_available Persistent memory that is free for new volumes.
                # TYPE pmem_amount_available gauge
                pmem_amount_available{driver_name="pmem-csi.intel.com",node="worker-1"} 4.294967296E9
                # TYPE pmem_amount_max_volume_size gauge
                pmem_amount_max_volume_size{driver_name="pmem-csi.intel.com",node="worker-1"} 1024
                # TYPE pmem_csi_erase_progress_ratio gauge
                pmem_csi_erase_progress_ratio{volume="a-1"} 0.25
                pmem_csi_erase_progress_ratio{volume="b-2"} 5.0E-4
                pmem_region_amount_available{region="region0"} 7
                """))
        .isEqualTo(new NodeMetrics(1L << 32, 1024L, Map.of("a-1", 0.25, "b-2", 0.0005)));
  }

  @Test
  void otherPagesHaveNothing() {
    assertThat(NodeMetrics.parse("<html>pmem_amount_available soon</html>"))
        .isEqualTo(new NodeMetrics(null, null, Map.of()));
  }

  @ParameterizedTest
  @CsvSource({"pmem-csi-node, metrics, 10010", "pmem-csi-node, http,", "nfs, metrics,"})
  void onlyPodsOfThisDriverAreAsked(String name, String port, Integer expected) {
    Pod pod =
        new KubernetesSerialization()
            .unmarshal(
                """
                metadata: {labels: {app.kubernetes.io/name: %s}}
                spec: {containers: [{name: driver, ports: [{name: %s, containerPort: 10010}]}]}
                """
                    .formatted(name, port),
                Pod.class);

    assertThat(NodeMetrics.port(pod).stream().boxed().findFirst().orElse(null)).isEqualTo(expected);
  }
}
