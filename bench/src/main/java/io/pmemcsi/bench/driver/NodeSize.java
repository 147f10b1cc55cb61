package io.pmemcsi.bench.driver;

import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How soon the program answers, and how much memory it keeps. */
public final class NodeSize implements Benchmark {

  private static final int STARTS = 7;
  private static final int VOLUMES = 100;

  /** Time for the JVM to finish what it does in the background, and to give memory back. */
  private static final long IDLE_MILLIS = 12_000;

  @Override
  public String name() {
    return "driver-process";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = NodeProcess.newDirectory();
    try {
      Samples starts = new Samples();
      for (int i = 0; i < STARTS; i++) {
        List<NodeProcess> started = new ArrayList<>();
        starts.time(() -> started.add(NodeProcess.start(directory)));
        started.getFirst().close();
      }
      return List.of(
          Figure.atMost(0.6, "first CSI answer after the start", starts.median(), "s"),
          Figure.atMost(
              90,
              "resident memory, idle after %d volumes".formatted(VOLUMES),
              idle(directory),
              "MiB"));
    } finally {
      NodeProcess.remove(directory);
    }
  }

  /** Every volume lives its whole life, ten of them are there at the same time. */
  private static double idle(Path directory) throws Exception {
    try (NodeProcess node = NodeProcess.start(directory)) {
      CsiClient csi = node.csi();
      for (int group = 0; group < VOLUMES / 10; group++) {
        List<Volume> volumes = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          Volume volume = csi.create("pvc-%d-%d".formatted(group, i), 16L << 20);
          String staging = node.pod("staging-" + i);
          csi.stage(volume, staging);
          csi.publish(volume, staging, node.pod("target-" + i));
          volumes.add(volume);
        }
        for (int i = 0; i < 10; i++) {
          csi.unpublish(volumes.get(i), node.pod("target-" + i));
          csi.unstage(volumes.get(i), node.pod("staging-" + i));
          csi.delete(volumes.get(i));
        }
      }
      Thread.sleep(IDLE_MILLIS);
      return node.residentMiB();
    }
  }
}
