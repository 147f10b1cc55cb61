package io.pmemcsi.bench.driver;

import csi.v1.GetCapacityRequest;
import csi.v1.Volume;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
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
        NodeProcess node = startNode(directory, "node-1", files)) {
      double alone = awaitCapacity(controller, 0);
      Figure forwarded =
          compare("forwarded CreateVolume, more than the local one", node, controller);
      // without a topology, as with immediate binding, all nodes are asked for their capacity
      try (NodeProcess _ = startNode(directory, "node-2", files);
          NodeProcess _ = startNode(directory, "node-3", files)) {
        awaitCapacity(controller, 2 * alone);
        return List.of(
            forwarded, compare("the same with a choice of three nodes", node, controller));
      }
    } finally {
      NodeProcess.remove(directory);
    }
  }

  private static NodeProcess startNode(Path directory, String name, CentralFiles files)
      throws Exception {
    return NodeProcess.start(
        Files.createDirectory(directory.resolve(name)),
        name,
        files.flags("-mode=node", PeerRole.NODE_CONTROLLER));
  }

  /** Waits until the registered nodes have more than this together. */
  private static double awaitCapacity(NodeProcess controller, double more) throws Exception {
    while (true) {
      double capacity =
          controller
              .csi()
              .controller()
              .getCapacity(GetCapacityRequest.getDefaultInstance())
              .getAvailableCapacity();
      if (capacity > more) {
        return capacity;
      }
      Thread.sleep(50);
    }
  }

  private static Figure compare(String what, NodeProcess node, NodeProcess controller)
      throws Exception {
    Samples local = new Samples();
    Samples forwarded = new Samples();
    for (int i = 0; i < WARM_UP + VOLUMES; i++) {
      boolean warmUp = i < WARM_UP;
      run(node.csi(), "local-" + i, warmUp ? new Samples() : local);
      run(controller.csi(), "forwarded-" + i, warmUp ? new Samples() : forwarded);
    }
    return Figure.atMost(5, what, (forwarded.median() - local.median()) * 1000, "ms");
  }

  private static void run(CsiClient csi, String name, Samples times) throws Exception {
    List<Volume> created = new ArrayList<>();
    times.time(() -> created.add(csi.create(name, SIZE)));
    created.forEach(csi::delete);
  }
}
