package io.pmemcsi.bench.driver;

import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import java.nio.file.Path;
import java.util.List;

/** The call by which kubelet and sidecars ask all day whether the driver is alive. */
public final class ProbeSpeed implements Benchmark {

  /** Until this JVM has compiled its client, it measures itself. */
  private static final int WARM_UP = 5_000;

  private static final int CALLS = 10_000;

  @Override
  public String name() {
    return "driver-probe";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = NodeProcess.newDirectory();
    try (NodeProcess node = NodeProcess.start(directory)) {
      CsiClient csi = node.csi();
      for (int i = 0; i < WARM_UP; i++) {
        csi.probe();
      }
      Samples times = new Samples();
      for (int i = 0; i < CALLS; i++) {
        times.time(csi::probe);
      }
      return List.of(
          Figure.atMost(0.4, "Probe, p50", times.percentile(0.5) * 1e3, "ms"),
          Figure.atMost(1.5, "Probe, p99", times.percentile(0.99) * 1e3, "ms"));
    } finally {
      NodeProcess.remove(directory);
    }
  }
}
