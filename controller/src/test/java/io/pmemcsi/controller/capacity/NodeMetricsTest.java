package io.pmemcsi.controller.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeMetricsTest {

  private static final String DRIVER = "pmem-csi.intel.com";

  @Test
  void readsTheAmountsOfTheDriver() throws Exception {
    String text =
        """
        # HELP pmem_amount_available Remaining amount of PMEM on the host.
        # TYPE pmem_amount_available gauge
        pmem_amount_available{driver_name="other.example.com",node="n1"} 1.0
        pmem_amount_available{driver_name="pmem-csi.intel.com",node="n1"} 6.6571993088E10
        pmem_amount_max_volume_size{driver_name="pmem-csi.intel.com",node="n1"} 3.221225472E9 17000
        pmem_amount_max_volume_size{driver_name="other.example.com",node="n1"} 5
        pmem_amount_total{driver_name="pmem-csi.intel.com",node="n1"} 1
        """;

    assertThat(NodeMetrics.read(text.lines(), DRIVER))
        .isEqualTo(new FreeCapacity(66571993088L, 3L << 30));
  }

  @Test
  void samplesWithoutDriverAndWithoutSumAreThoseOfOldDrivers() throws Exception {
    assertThat(NodeMetrics.read("pmem_amount_max_volume_size 1024".lines(), DRIVER))
        .isEqualTo(new FreeCapacity(1024, 1024));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "pmem_amount_available 5",
        "pmem_amount_max_volume_size NaN",
        "pmem_amount_max_volume_size -5",
        "pmem_amount_max_volume_size +Inf",
        "pmem_amount_max_volume_size many",
        "<html>pmem_amount_max_volume_size</html>",
        "pmem_amount_max_volume_size{driver_name=\"other\"} 5",
      })
  void otherTextIsAnError(String text) {
    assertThatThrownBy(() -> NodeMetrics.read(text.lines(), DRIVER))
        .isInstanceOf(IOException.class);
  }
}
