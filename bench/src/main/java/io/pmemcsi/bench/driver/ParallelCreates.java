package io.pmemcsi.bench.driver;

import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Volumes that are made at the same time, beside the same number made one after the other. */
public final class ParallelCreates implements Benchmark {

  private static final int VOLUMES = 16;
  private static final int ROUNDS = 7;
  private static final long SIZE = 16L << 20;

  @Override
  public String name() {
    return "driver-parallel";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = NodeProcess.newDirectory();
    try (NodeProcess node = NodeProcess.start(directory)) {
      Samples alone = new Samples();
      Samples together = new Samples();
      for (int round = 0; round <= ROUNDS; round++) {
        boolean warmUp = round == 0;
        run(node.csi(), 1, warmUp ? new Samples() : alone);
        run(node.csi(), VOLUMES, warmUp ? new Samples() : together);
      }
      return List.of(
          Figure.atLeast(
              2,
              "%d creates one by one / in parallel".formatted(VOLUMES),
              alone.median() / together.median(),
              ""));
    } finally {
      NodeProcess.remove(directory);
    }
  }

  private static void run(CsiClient csi, int workers, Samples times) throws Exception {
    List<Volume> volumes = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(workers)) {
      times.time(
          () -> {
            List<Future<Volume>> created = new ArrayList<>();
            for (int i = 0; i < VOLUMES; i++) {
              String name = "pvc-" + i;
              created.add(pool.submit(() -> csi.create(name, SIZE)));
            }
            for (Future<Volume> volume : created) {
              volumes.add(volume.get());
            }
          });
    }
    volumes.forEach(csi::delete);
  }
}
