package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/**
 * A cluster that stays up for work by hand, until this program is ended: what {@code build/cluster}
 * runs.
 */
final class StandingCluster {

  private StandingCluster() {}

  /**
   * Runs until it is ended.
   *
   * @param arguments the file to write the kubeconfig to when all is ready, and the number of
   *     hollow nodes
   */
  public static void main(String... arguments) throws IOException, InterruptedException {
    Path target = Path.of(arguments[0]);
    int nodes = Integer.parseInt(arguments[1]);
    ControlPlane plane = ControlPlane.start(Binaries.find());
    plane.startControllers();
    try (Cluster cluster = Cluster.of(plane)) {
      if (nodes > 0) {
        HollowNodes.start(cluster, nodes, Map.of());
      }
      Path fresh = target.resolveSibling(target.getFileName() + ".new");
      Kubeconfig.copy(plane.kubeconfig(), fresh);
      Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE);
      new CountDownLatch(1).await();
    }
  }
}
