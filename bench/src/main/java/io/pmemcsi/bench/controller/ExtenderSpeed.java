package io.pmemcsi.bench.controller;

import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.testbed.kubernetes.Cluster;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Requests about a pod and 5,000 nodes at a steady rate: a request that has to wait for the one
 * before counts with its waiting time. For each pod a scheduler sends two requests, one to filter
 * and one to prioritize. Processor time says the same on a busy machine.
 *
 * <p>The best case is a pod for which all nodes pass. It is worse when nearly all nodes are
 * refused, each with a reason: because they lack capacity, or because it is held for pods whose
 * node is still open.
 */
public final class ExtenderSpeed implements Benchmark {

  private static final int NODES = 5000;
  private static final int REQUESTS_PER_SECOND = 200;
  private static final int PODS_PER_SECOND = REQUESTS_PER_SECOND / 2;
  private static final int WARM_UP = 2000;
  private static final int CALLS = 4000;
  private static final int REFUSED_CALLS = 2000;
  private static final int ORDERS = 10;
  private static final String POD = "\"uid\": \"pod-";
  private static final String INLINE =
      """
      "csi": {"driver": "%s", "volumeAttributes": {"size": "1Gi"}}\
      """
          .formatted(ControllerBed.DRIVER);

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
      List<String> bodies = bodies(bed.sandbox.namespace(), claim(ControllerBed.CLAIM), nodes);
      List<byte[]> filters = requests("/filter", bodies);
      List<byte[]> priorities = requests("/prioritize", bodies);
      byte[] review = TlsCalls.request("/pod/mutate", review(bed.sandbox.namespace()));
      Call both =
          i -> {
            calls.call(filters.get(i % ORDERS));
            calls.call(priorities.get(i % ORDERS));
          };
      atRate(PODS_PER_SECOND, WARM_UP, both);
      long before = bed.processorTime().toMillis();
      List<Double> scheduling = atRate(PODS_PER_SECOND, CALLS, both);
      double processor = (bed.processorTime().toMillis() - before) / (double) CALLS;
      double refused =
          mostRefused(calls, bed.sandbox.namespace(), claim(ControllerBed.LARGE_CLAIM), nodes, 1);
      double undecided =
          mostRefused(calls, bed.sandbox.namespace(), INLINE, nodes, Integer.MAX_VALUE);
      atRate(REQUESTS_PER_SECOND, WARM_UP, _ -> calls.call(review));
      List<Double> webhook = atRate(REQUESTS_PER_SECOND, CALLS, _ -> calls.call(review));
      System.out.printf(
          "filter and prioritize: median %.2f ms, %.2f ms of processor time%n",
          percentile(scheduling, 0.5), processor);
      return List.of(
          Figure.atMost(
              5,
              "filter + prioritize for 5,000 nodes, p99 at 200 requests per second",
              percentile(scheduling, 0.99),
              "ms"),
          Figure.atMost(5, "the same, one node in 100 has the capacity, p99", refused, "ms"),
          Figure.atMost(5, "the same, pods whose node is still open, p99", undecided, "ms"),
          Figure.atMost(
              4, "processor time of filter + prioritize for 5,000 nodes", processor, "ms"),
          Figure.atMost(
              3, "webhook, p99 at 200 requests per second", percentile(webhook, 0.99), "ms"),
          Figure.atMost(150, "resident memory with 5,000 nodes", bed.residentMebibytes(), "MiB"));
    }
  }

  /**
   * Filters all nodes, and prioritizes one that is left.
   *
   * @param pods how many different ones
   */
  private static double mostRefused(
      TlsCalls calls, String namespace, String volume, List<String> nodes, int pods)
      throws Exception {
    List<byte[]> filters = requests("/filter", bodies(namespace, volume, nodes));
    byte[] prioritize =
        TlsCalls.request("/prioritize", body(namespace, volume, nodes.subList(0, 1)));
    Call both =
        i -> {
          byte[] filter = filters.get(i % ORDERS);
          setPod(filter, i % pods);
          calls.call(filter);
          setPod(prioritize, i % pods);
          calls.call(prioritize);
        };
    atRate(PODS_PER_SECOND, WARM_UP / 2, both);
    return percentile(atRate(PODS_PER_SECOND, REFUSED_CALLS, i -> both.run(WARM_UP / 2 + i)), 0.99);
  }

  /** Writes the number of a pod into its request, in place. */
  private static void setPod(byte[] request, int number) {
    int head = Math.min(request.length, 1000);
    int at = new String(request, 0, head, StandardCharsets.US_ASCII).indexOf(POD) + POD.length();
    byte[] digits = "%08d".formatted(number).getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(digits, 0, request, at, digits.length);
  }

  private interface Call {
    void run(int number) throws Exception;
  }

  private static List<Double> atRate(int perSecond, int count, Call call) throws Exception {
    long step = 1_000_000_000L / perSecond;
    long begin = System.nanoTime();
    List<Double> milliseconds = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      long due = begin + i * step;
      for (long now = System.nanoTime(); now < due; now = System.nanoTime()) {
        LockSupport.parkNanos(due - now);
      }
      call.run(i);
      milliseconds.add((System.nanoTime() - due) / 1e6);
    }
    return milliseconds;
  }

  private static double percentile(List<Double> values, double share) {
    return values.stream().sorted().skip((long) (values.size() * share)).findFirst().orElseThrow();
  }

  /** A scheduler starts with another node for each pod. */
  private static List<String> bodies(String namespace, String volume, List<String> nodes) {
    return IntStream.range(0, ORDERS)
        .mapToObj(
            i -> {
              var rotated = new ArrayList<>(nodes);
              Collections.rotate(rotated, i * NODES / ORDERS);
              return body(namespace, volume, rotated);
            })
        .toList();
  }

  private static List<byte[]> requests(String path, List<String> bodies) {
    return bodies.stream().map(body -> TlsCalls.request(path, body)).toList();
  }

  private static String claim(String name) {
    return """
    "persistentVolumeClaim": {"claimName": "%s"}\
    """
        .formatted(name);
  }

  private static String body(String namespace, String volume, List<String> nodes) {
    return """
    {"Pod": {"metadata": {"name": "bench", "namespace": "%s", "uid": "pod-00000000"}, "spec": {
      "containers": [{"name": "main", "image": "registry.example.com/app:1",
        "resources": {"limits": {"pmem-csi.intel.com/scheduler": "1"}}}],
      "volumes": [{"name": "data", %s}]}},
     "NodeNames": [%s]}\
    """
        .formatted(
            namespace,
            volume,
            nodes.stream().map("\"%s\""::formatted).collect(Collectors.joining(",")));
  }

  private static String review(String namespace) {
    return """
    {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
      "uid": "1", "namespace": "%s", "object": {"metadata": {"name": "bench"}, "spec": {
        "containers": [{"name": "main", "image": "registry.example.com/app:1"}],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "%s"}}]}}}}\
    """
        .formatted(namespace, ControllerBed.CLAIM);
  }
}
