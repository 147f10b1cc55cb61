package io.pmemcsi.driver.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.base.names.DriverName;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DriverMetricsTest {

  private final DriverMetrics metrics = new DriverMetrics(new DriverName("driver"), "node");

  /** The library refuses times of creation before 1970, and with them the whole page. */
  @Test
  void noMetricDependsOnTheClock() {
    metrics.called("/csi.v1.Identity/Probe", "OK", Duration.ofMillis(1));

    assertThat(metrics.registry().scrape().stream().flatMap(m -> m.getDataPoints().stream()))
        .isNotEmpty()
        .noneMatch(DataPointSnapshot::hasCreatedTimestamp);
  }

  @Test
  void durationsAreCountedInTheirBuckets() {
    for (int millis : new int[] {50, 100, 101, 700_000}) {
      metrics.called("/csi.v1.Identity/Probe", "OK", Duration.ofMillis(millis));
    }

    HistogramDataPointSnapshot calls =
        metrics.registry().scrape().stream()
            .filter(m -> m.getMetadata().getName().equals("csi_plugin_operations_seconds"))
            .map(HistogramSnapshot.class::cast)
            .findFirst()
            .orElseThrow()
            .getDataPoints()
            .getFirst();
    assertThat(calls.getCount()).isEqualTo(4);
    assertThat(calls.getSum()).isEqualTo(700.251);
    assertThat(calls.getClassicBuckets().getUpperBound(0)).isEqualTo(.1);
    assertThat(calls.getClassicBuckets().getCount(0)).as("up to 0.1 s").isEqualTo(2);
    assertThat(calls.getClassicBuckets().getCount(1)).as("up to 0.25 s").isEqualTo(1);
    assertThat(calls.getClassicBuckets().getCount(13)).as("more than 600 s").isEqualTo(1);
  }
}
