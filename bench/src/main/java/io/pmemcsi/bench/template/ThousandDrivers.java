package io.pmemcsi.bench.template;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A thousand resources in a hundred namespaces on one API server, with the operator in a process of
 * its own, started as users start it.
 */
public final class ThousandDrivers implements Benchmark {

  /** Fewer, to see whether all of this still works: -Dpmem-csi.bench.namespaces=5. */
  private static final int NAMESPACES = Integer.getInteger("pmem-csi.bench.namespaces", 100);

  private static final int PER_NAMESPACE = 10;
  private static final long ALL = (long) NAMESPACES * PER_NAMESPACE;
  private static final int CHANGES = 20;
  private static final Duration IDLE = Duration.ofSeconds(20);
  private static final Duration TIMEOUT = Duration.ofMinutes(15);
  private static final Duration SECOND = Duration.ofSeconds(1);

  @Override
  public String name() {
    return "thousand-drivers";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path log = Files.createTempFile("pmem-csi-bench-", ".log");
    try (Cluster cluster = Cluster.open()) {
      KubernetesClient client = cluster.admin();
      Definitions.install(client, Path.of("deploy/crd"));
      try (ChildProcess operator =
          ChildProcess.start(
              "operator",
              log,
              List.of(
                  "env",
                  "WATCH_NAMESPACE=default",
                  "bin/pmem-csi",
                  "operator",
                  "--kubeconfig=" + cluster.kubeconfig(),
                  "--image=bench:image",
                  "--metrics-addr=0"))) {
        return measure(client, operator);
      }
    } finally {
      Files.deleteIfExists(log);
    }
  }

  private static List<Figure> measure(KubernetesClient client, ChildProcess operator)
      throws Exception {
    long start = System.nanoTime();
    for (int n = 0; n < NAMESPACES; n++) {
      client
          .resource(
              new NamespaceBuilder().withNewMetadata().withName(namespace(n)).endMetadata().build())
          .create();
      for (int i = 0; i < PER_NAMESPACE; i++) {
        client.resource(resource(n, i)).create();
      }
    }
    double settling;
    // lists of a thousand, again and again, would take the processors from those who are measured
    try (var watched = client.resources(CSIDriverDeployment.class).inAnyNamespace().inform()) {
      await(operator, () -> settled(watched.getStore().list()) == ALL);
      settling = seconds(start);
    }
    awaitIdle(operator);
    List<Double> changes = new ArrayList<>();
    for (int change = 0; change < CHANGES; change++) {
      changes.add(change(client, operator, change));
    }
    double before = writes(client);
    Thread.sleep(IDLE);
    double idleWrites = writes(client) - before;
    return List.of(
        Figure.atMost(
            300,
            "%,d drivers in %d namespaces are settled after".formatted(ALL, NAMESPACES),
            settling,
            "s"),
        Figure.atMost(384, "largest resident memory of the operator", memory(operator), "MiB"),
        Figure.atMost(0, "writes of anybody in 20 idle seconds", idleWrites, ""),
        Figure.atMost(
            500,
            "a change is handled among %d others, worst of %d".formatted(ALL - 1, CHANGES),
            changes.stream().mapToDouble(Double::doubleValue).max().orElseThrow(),
            "ms"));
  }

  /** Until the status says that this generation is in place. */
  private static double change(KubernetesClient client, ChildProcess operator, int number)
      throws InterruptedException {
    int n = number * 37 % NAMESPACES;
    var one =
        client
            .resources(CSIDriverDeployment.class)
            .inNamespace(namespace(n))
            .withName(name(n, number % PER_NAMESPACE));
    long start = System.nanoTime();
    one.patch(
        PatchContext.of(PatchType.JSON_MERGE),
        "{\"spec\":{\"logLevel\":%d}}".formatted(number % 3 + 1));
    await(operator, () -> isSettled(one.get()));
    return seconds(start) * 1000;
  }

  /** After the burst the operator still handles the events of its own writes. */
  private static void awaitIdle(ChildProcess operator) throws Exception {
    Duration used = processorTime(operator);
    while (true) {
      Thread.sleep(SECOND);
      Duration now = processorTime(operator);
      if (now.minus(used).compareTo(SECOND.dividedBy(10)) < 0) {
        return;
      }
      used = now;
    }
  }

  private static Duration processorTime(ChildProcess operator) {
    return ProcessHandle.of(operator.pid())
        .flatMap(process -> process.info().totalCpuDuration())
        .orElseThrow();
  }

  private static long settled(List<CSIDriverDeployment> resources) {
    return resources.stream().filter(ThousandDrivers::isSettled).count();
  }

  private static boolean isSettled(CSIDriverDeployment resource) {
    return Objects.equals(
        resource.getStatus().observedGeneration(), resource.getMetadata().getGeneration());
  }

  private static void await(ChildProcess operator, BooleanSupplier reached)
      throws InterruptedException {
    long end = System.nanoTime() + TIMEOUT.toNanos();
    while (!reached.getAsBoolean()) {
      if (!operator.isAlive()) {
        throw new IllegalStateException("the operator has ended");
      }
      if (System.nanoTime() > end) {
        throw new IllegalStateException("not reached in " + TIMEOUT);
      }
      Thread.sleep(20);
    }
  }

  /** Requests that change something, as the API server itself counts them. */
  private static double writes(KubernetesClient client) {
    return client
        .raw("/metrics")
        .lines()
        .filter(line -> line.startsWith("apiserver_request_total{"))
        .filter(line -> line.matches(".*verb=\"(POST|PUT|PATCH|DELETE|APPLY)\".*"))
        .filter(line -> !line.contains("resource=\"leases\""))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  /** The peak, of the process that the launcher became. */
  private static double memory(ChildProcess operator) throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc", operator.pid() + "", "status"))) {
      return lines
              .filter(line -> line.startsWith("VmHWM:"))
              .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")))
              .findFirst()
              .orElseThrow()
          / 1024;
    }
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private static String namespace(int n) {
    return "bench-%03d".formatted(n);
  }

  private static String name(int n, int i) {
    return "driver-%03d-%d".formatted(n, i);
  }

  private static CSIDriverDeployment resource(int n, int i) {
    var resource =
        (CSIDriverDeployment)
            new Rendering()
                .read(
                    """
                    apiVersion: csidriver.storage.openshift.io/v1alpha1
                    kind: CSIDriverDeployment
                    metadata: {name: NAME, namespace: NAMESPACE}
                    spec:
                      driverName: NAME.example.com
                      driverSocket: /csi/csi.sock
                      nodeUpdateStrategy: Rolling
                      probePeriodSeconds: 60
                      driverPerNodeTemplate:
                        spec:
                          containers:
                            - name: driver
                              image: example.com/driver:1
                              args: [--v=5, "--endpoint=unix:///csi/csi.sock", --nodeid=$(NODE)]
                              env:
                                - name: NODE
                                  valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
                              securityContext: {privileged: true}
                              volumeMounts: [{name: data, mountPath: /data}]
                          volumes: [{name: data, hostPath: {path: /data}}]
                      driverControllerTemplate:
                        spec:
                          containers:
                            - name: driver
                              image: example.com/driver:1
                              args: [--v=5, "--endpoint=unix:///csi/csi.sock"]
                      storageClassTemplates:
                        - metadata: {name: NAME}
                    """
                        .replace("NAMESPACE", namespace(n))
                        .replace("NAME", name(n, i)));
    return resource;
  }
}
