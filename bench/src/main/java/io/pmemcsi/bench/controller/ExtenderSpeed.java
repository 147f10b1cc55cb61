package io.pmemcsi.bench.controller;

import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.testbed.kubernetes.Cluster;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Questions about a pod and 5,000 nodes at a steady rate: a request that has to wait for the one
 * before counts with its waiting time. Processor time per question says the same on a busy machine.
 */
public final class ExtenderSpeed implements Benchmark {

  private static final int NODES = 5000;
  private static final int PER_SECOND = 200;
  private static final int WARM_UP = 2000;
  private static final int CALLS = 4000;

  @Override
  public String name() {
    return "controller-extender";
  }

  @Override
  public List<Figure> measure() throws Exception {
    List<String> nodes =
        IntStream.range(0, NODES).mapToObj("worker-%05d.cluster.example.com"::formatted).toList();
    var plane = ControllerBed.startPlane();
    try (Cluster cluster = Cluster.of(plane);
        ControllerBed bed = ControllerBed.start(plane, cluster, nodes);
        TlsCalls calls = new TlsCalls(bed.port, bed.authority.authority())) {
      String body = body(bed.sandbox.namespace(), nodes);
      byte[] filter = TlsCalls.request("/filter", body);
      byte[] prioritize = TlsCalls.request("/prioritize", body);
      byte[] review = TlsCalls.request("/pod/mutate", review(bed.sandbox.namespace()));
      Call both =
          () -> {
            calls.call(filter);
            calls.call(prioritize);
          };
      atRate(WARM_UP, both);
      long before = bed.processorTime().toMillis();
      List<Double> scheduling = atRate(CALLS, both);
      double processor = (bed.processorTime().toMillis() - before) / (double) CALLS;
      atRate(WARM_UP, () -> calls.call(review));
      List<Double> webhook = atRate(CALLS, () -> calls.call(review));
      System.out.printf(
          "filter and prioritize: median %.2f ms, %.2f ms of processor time%n",
          percentile(scheduling, 0.5), processor);
      return List.of(
          Figure.atMost(
              5,
              "filter + prioritize for 5,000 nodes, p99 at 200 per second",
              percentile(scheduling, 0.99),
              "ms"),
          Figure.atMost(
              4, "processor time of filter + prioritize for 5,000 nodes", processor, "ms"),
          Figure.atMost(3, "webhook, p99 at 200 per second", percentile(webhook, 0.99), "ms"),
          Figure.atMost(150, "resident memory with 5,000 nodes", bed.residentMebibytes(), "MiB"));
    }
  }

  private interface Call {
    void run() throws Exception;
  }

  private static List<Double> atRate(int count, Call call) throws Exception {
    long step = 1_000_000_000L / PER_SECOND;
    long begin = System.nanoTime();
    List<Double> milliseconds = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long due = begin + i * step;
      for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
        LockSupport.parkNanos(due - now);
      }
      call.run();
      milliseconds.add((System.nanoTime() - due) / 1e6);
    }
    return milliseconds;
  }

  private static double percentile(List<Double> values, double share) {
    return values.stream().sorted().skip((long) (values.size() * share)).findFirst().orElseThrow();
  }

  private static String body(String namespace, List<String> nodes) {
    return """
    {"Pod": {"metadata": {"name": "bench", "namespace": "%s", "uid": "1"}, "spec": {
      "containers": [{"name": "main", "image": "registry.example.com/app:1",
        "resources": {"limits": {"pmem-csi.intel.com/scheduler": "1"}}}],
      "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "%s"}}]}},
     "NodeNames": [%s]}"""
        .formatted(
            namespace,
            ControllerBed.CLAIM,
            nodes.stream().map("\"%s\""::formatted).collect(Collectors.joining(",")));
  }

  private static String review(String namespace) {
    return """
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
      "uid": "1", "namespace": "%s", "object": {"metadata": {"name": "bench"}, "spec": {
        "containers": [{"name": "main", "image": "registry.example.com/app:1"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "%s"}}]}}}}"""
        .formatted(namespace, ControllerBed.CLAIM);
  }
}
