package io.pmemcsi.bench.controller;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.process.ChildProcess;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/** How many pods the real kube-scheduler places per second, with the extender and without. */
public final class SchedulerThroughput implements Benchmark {

  private static final int NODES = 1000;
  private static final int PODS = 300;
  private static final int ROUNDS = 3;

  @Override
  public String name() {
    return "controller-scheduler";
  }

  @Override
  public List<Figure> measure() throws Exception {
    var plane = ControllerBed.startPlane();
    try (Cluster cluster = Cluster.of(plane);
        FakeNodes nodes = FakeNodes.create(cluster, NODES, Map.of("bench", "controller"));
        ControllerBed bed = ControllerBed.start(plane, cluster, nodes.names())) {
      var with = new Samples();
      var without = new Samples();
      for (int round = 0; round < ROUNDS; round++) {
        without.add(PODS / seconds(bed, "without-" + round, false));
        with.add(PODS / seconds(bed, "with-" + round, true));
      }
      System.out.printf(
          "pods per second: %.0f without, %.0f with the extender%n",
          without.median(), with.median());
      return List.of(
          Figure.atLeast(
              0.9,
              "pods per second on 1,000 nodes with the extender / without",
              with.median() / without.median(),
              ""));
    }
  }

  /** All pods exist before their scheduler starts, so that it alone decides the pace. */
  private static double seconds(ControllerBed bed, String name, boolean marked) throws Exception {
    try (var threads = Executors.newFixedThreadPool(8)) {
      for (int i = 0; i < PODS; i++) {
        Pod pod = pod(name, i, marked);
        var _ = threads.submit(() -> bed.sandbox.client().resource(pod).create());
      }
    }
    try (ChildProcess _ = bed.plane.startScheduler(name, configuration(bed, name))) {
      awaitPlaced(bed, name, 1);
      long begin = System.nanoTime();
      awaitPlaced(bed, name, PODS);
      return (System.nanoTime() - begin) / 1e9;
    } finally {
      bed.sandbox.client().pods().withLabel("round", name).withGracePeriod(0).delete();
    }
  }

  private static void awaitPlaced(ControllerBed bed, String name, int count)
      throws InterruptedException {
    while (bed.sandbox.client().pods().withLabel("round", name).list().getItems().stream()
            .filter(pod -> pod.getSpec().getNodeName() != null)
            .count()
        < count) {
      Thread.sleep(20);
    }
  }

  private static Pod pod(String name, int number, boolean marked) {
    Map<String, Quantity> mark =
        marked ? Map.of(ControllerBed.DRIVER + "/scheduler", new Quantity("1")) : Map.of();
    return new PodBuilder()
        .withNewMetadata()
        .withName(name + "-" + number)
        .withLabels(Map.of("round", name))
        .endMetadata()
        .withNewSpec()
        .withSchedulerName(name)
        .addNewContainer()
        .withName("main")
        .withImage("registry.example.com/app:1")
        .withNewResources()
        .withRequests(mark)
        .withLimits(mark)
        .endResources()
        .endContainer()
        .addNewVolume()
        .withName("scratch")
        .withNewCsi()
        .withDriver(ControllerBed.DRIVER)
        .withVolumeAttributes(Map.of("size", "1Gi"))
        .endCsi()
        .endVolume()
        .endSpec()
        .build();
  }

  private static String configuration(ControllerBed bed, String name) {
    return """
    apiVersion: kubescheduler.config.k8s.io/%s
    kind: KubeSchedulerConfiguration
    clientConnection: {kubeconfig: "@KUBECONFIG@", qps: 1000, burst: 1000}
    leaderElection: {leaderElect: false}
    profiles:
    - schedulerName: %s
    extenders:
    - urlPrefix: https://127.0.0.1:%d
      filterVerb: filter
      prioritizeVerb: prioritize
      nodeCacheCapable: true
      weight: 1
      enableHTTPS: true
      tlsConfig: {caData: "%s"}
      managedResources:
      - name: %s/scheduler
        ignoredByScheduler: true
    """
        .formatted(
            bed.plane.version().isAtLeast(1, 25) ? "v1" : "v1beta1",
            name,
            bed.port,
            Base64.getEncoder()
                .encodeToString(bed.authority.authorityPem().getBytes(StandardCharsets.UTF_8)),
            ControllerBed.DRIVER);
  }
}
