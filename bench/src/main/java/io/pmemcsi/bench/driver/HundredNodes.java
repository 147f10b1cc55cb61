package io.pmemcsi.bench.driver;

import csi.v1.ControllerGrpc;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.driver.csi.CallInterceptor;
import io.pmemcsi.driver.registry.NodeProvisioning;
import io.pmemcsi.driver.registry.NodeRegistrySettings;
import io.pmemcsi.driver.registry.TcpEndpoint;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How soon all nodes are registered again after the controller was killed. */
public final class HundredNodes implements Benchmark {

  private static final int NODES = 100;

  /** As long as a pod takes to be replaced, so that nodes are in back-off. */
  private static final long AWAY_MILLIS = 15_000;

  private static final int VOLUMES_PER_NODE = 20;

  @Override
  public String name() {
    return "driver-registry";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = NodeProcess.newDirectory();
    Path central = Files.createDirectory(directory.resolve("central"));
    CentralFiles files = CentralFiles.create(directory);
    List<NodeProvisioning> nodes = new ArrayList<>();
    Logging.configure(LogFormat.TEXT, new Verbosity(0), OutputStream.nullOutputStream());
    try {
      NodeProcess first = NodeProcess.start(central, files.controllerFlags());
      try {
        for (int i = 0; i < NODES; i++) {
          nodes.add(node("node-" + i, files));
        }
        awaitAll(nodes, true);
      } finally {
        first.kill();
      }
      awaitAll(nodes, false);
      Thread.sleep(AWAY_MILLIS);
      long start = System.nanoTime();
      try (NodeProcess _ = NodeProcess.start(central, files.controllerFlags())) {
        awaitAll(nodes, true);
        double seconds = (System.nanoTime() - start) / 1e9;
        return List.of(
            Figure.atMost(
                10,
                "%d nodes registered after the controller's restart".formatted(NODES),
                seconds,
                "s"));
      }
    } finally {
      nodes.forEach(NodeProvisioning::close);
      NodeProcess.remove(directory);
    }
  }

  private static void awaitAll(List<NodeProvisioning> nodes, boolean registered)
      throws InterruptedException {
    while (nodes.stream().anyMatch(node -> node.isRegistered() != registered)) {
      Thread.sleep(20);
    }
  }

  private static NodeProvisioning node(String name, CentralFiles files) {
    TlsFiles tls = files.tls(PeerRole.NODE_CONTROLLER);
    return NodeProvisioning.start(
        name,
        new NodeRegistrySettings(
            TcpEndpoint.parse(files.registry()), new TcpEndpoint("127.0.0.1", 0), tls, tls),
        new CallInterceptor(name, (_, _, _) -> {}),
        List.of(new Volumes(name)));
  }

  /** All that the controller asks of a node that registers. */
  private static final class Volumes extends ControllerGrpc.ControllerImplBase {
    private final String node;

    Volumes(String node) {
      this.node = node;
    }

    @Override
    public void listVolumes(
        ListVolumesRequest request, StreamObserver<ListVolumesResponse> observer) {
      ListVolumesResponse.Builder list = ListVolumesResponse.newBuilder();
      for (int i = 0; i < VOLUMES_PER_NODE; i++) {
        list.addEntriesBuilder().getVolumeBuilder().setVolumeId("pvc-%s-%d".formatted(node, i));
      }
      observer.onNext(list.build());
      observer.onCompleted();
    }
  }
}
