package io.pmemcsi.driver.metrics;

import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long calls took. The histogram of the library has a time of creation, which is not printed
 * and makes every scrape fail on a node whose clock is before 1970.
 */
final class CallDurations implements Collector {

  static final String NAME = "csi_plugin_operations_seconds";

  private static final double[] UPPER_BOUNDS = {
    .1, .25, .5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600, Double.POSITIVE_INFINITY
  };

  private final Map<Labels, Buckets> calls = new ConcurrentHashMap<>();

  /** The calls with the same labels. */
  private static final class Buckets {
    private final long[] counts = new long[UPPER_BOUNDS.length];
    private double sum;

    synchronized void add(double seconds) {
      int bucket = 0;
      while (seconds > UPPER_BOUNDS[bucket]) {
        bucket++;
      }
      counts[bucket]++;
      sum += seconds;
    }

    synchronized HistogramDataPointSnapshot snapshot(Labels labels) {
      return HistogramDataPointSnapshot.builder()
          .labels(labels)
          .classicHistogramBuckets(ClassicHistogramBuckets.of(UPPER_BOUNDS, counts))
          .sum(sum)
          .build();
    }
  }

  void observe(Labels labels, double seconds) {
    calls.computeIfAbsent(labels, _ -> new Buckets()).add(seconds);
  }

  @Override
  public String getPrometheusName() {
    return NAME;
  }

  @Override
  public MetricSnapshot collect() {
    HistogramSnapshot.Builder snapshot =
        HistogramSnapshot.builder().name(NAME).help("Duration of CSI calls.");
    calls.forEach((labels, buckets) -> snapshot.dataPoint(buckets.snapshot(labels)));
    return snapshot.build();
  }
}
