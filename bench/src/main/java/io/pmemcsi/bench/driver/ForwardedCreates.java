package io.pmemcsi.bench.driver;

import csi.v1.GetCapacityRequest;
import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import io.pmemcsi.driver.registry.tls.PeerRole;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** CreateVolume through the central controller, beside the same call on the node's own socket. */
public final class ForwardedCreates implements Benchmark {

  private static final int WARM_UP = 50;
  private static final int VOLUMES = 200;
  private static final long SIZE = 16L << 20;

  @Override
  public String name() {
    return "driver-forwarded";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = NodeProcess.newDirectory();
    Path central = Files.createDirectory(directory.resolve("central"));
    CentralFiles files = CentralFiles.create(directory);
    try (NodeProcess controller = NodeProcess.start(central, files.controllerFlags());
        NodeProcess node =
            NodeProcess.start(directory, files.flags("-mode=node", PeerRole.NODE_CONTROLLER))) {
      while (controller
              .csi()
              .controller()
              .getCapacity(GetCapacityRequest.getDefaultInstance())
              .getAvailableCapacity()
          == 0) {
        Thread.sleep(50);
      }
      Samples local = new Samples();
      Samples forwarded = new Samples();
      for (int i = 0; i < WARM_UP + VOLUMES; i++) {
        boolean warmUp = i < WARM_UP;
        run(node.csi(), "local-" + i, warmUp ? new Samples() : local);
        run(controller.csi(), "forwarded-" + i, warmUp ? new Samples() : forwarded);
      }
      return List.of(
          Figure.atMost(
              5,
              "forwarded CreateVolume, more than the local one",
              (forwarded.median() - local.median()) * 1000,
              "ms"));
    } finally {
      NodeProcess.remove(directory);
    }
  }

  private static void run(CsiClient csi, String name, Samples times) throws Exception {
    List<Volume> created = new ArrayList<>();
    times.time(() -> created.add(csi.create(name, SIZE)));
    created.forEach(csi::delete);
  }
}
