package io.pmemcsi.bench.operator;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The operator and {@code PmemCSIDeployment}. */
public final class OperatorBenchmark implements Benchmark {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int COLD = 3;
  private static final int WARM_UP = 40;
  private static final int WARM = 21;
  private static final int MANY = 200;

  /** No node here has the labels that the drivers look for. */
  private static final String SETTLED = PmemCSIDeploymentStatus.PHASE_INITIALIZING;

  private static final Duration IDLE = Duration.ofMinutes(1);

  @Override
  public String name() {
    return "operator";
  }

  @Override
  public List<Figure> measure() throws Exception {
    try (Cluster cluster = Cluster.open();
        Sandbox sandbox = cluster.newSandbox("bench")) {
      install(sandbox);
      return new Run(sandbox).figures();
    }
  }

  private static void install(Sandbox sandbox) {
    KubernetesClient client = sandbox.client();
    Definitions.install(client, Path.of("deploy/crd"));
    for (HasMetadata object :
        new OperatorInstallation(sandbox.namespace(), OperatorProcess.IMAGE).objects()) {
      if (!(object instanceof Namespace) && !(object instanceof Deployment)) {
        client.resource(object).fieldManager("kubectl").forceConflicts().serverSideApply();
      }
    }
  }

  /** One run on one API server. */
  private static final class Run {
    private final Sandbox sandbox;
    private final KubernetesClient client;
    private final Path kubeconfig;
    private final ClusterFacts facts;
    private int made;

    Run(Sandbox sandbox) {
      this.sandbox = sandbox;
      this.client = sandbox.client();
      this.kubeconfig = sandbox.kubeconfigAs(OperatorInstallation.NAME);
      this.facts = new ClusterProbe(client).facts(sandbox.namespace(), OperatorProcess.IMAGE);
    }

    List<Figure> figures() throws Exception {
      var figures = new ArrayList<Figure>();
      try (var arrivals = new Arrivals(client, objects(resource("any.example.com")))) {
        var ready = new ArrayList<Double>();
        var cold = new ArrayList<Double>();
        var resident = new ArrayList<Double>();
        for (int i = 0; i < COLD; i++) {
          try (var operator = OperatorProcess.start(sandbox, kubeconfig)) {
            ready.add(operator.secondsUntilReady());
            cold.add(untilLastObject(arrivals));
            resident.add(residentAfterAWhile(operator));
            removeAll();
          }
        }
        figures.add(Figure.atMost(1.5, "start to ready", median(ready), "s"));
        figures.add(Figure.atMost(120, "resident with one resource", median(resident), "MiB"));
        figures.add(
            Figure.atMost(
                1.5, "creation to last object, operator just started", median(cold), "s"));
        try (var operator = OperatorProcess.start(sandbox, kubeconfig)) {
          figures.addAll(withOneOperator(operator, arrivals));
        }
      }
      return figures;
    }

    private List<Figure> withOneOperator(OperatorProcess operator, Arrivals arrivals)
        throws Exception {
      var figures = new ArrayList<Figure>();
      for (int i = 0; i < WARM_UP; i++) {
        untilLastObject(arrivals);
      }
      var warm = new ArrayList<Double>();
      for (int i = 0; i < WARM; i++) {
        warm.add(untilLastObject(arrivals));
      }
      figures.add(
          Figure.atMost(100, "creation to last object, warm, median", median(warm) * 1000, "ms"));
      figures.add(
          Figure.atMost(1, "deleted object to recreated, slowest kind", recreation(arrivals), "s"));
      removeAll();
      figures.add(Figure.atMost(60, "%d resources settle".formatted(MANY), settleMany(), "s"));
      figures.add(
          Figure.atMost(
              200,
              "resident with %d resources".formatted(MANY),
              residentAfterAWhile(operator),
              "MiB"));
      figures.add(
          Figure.atMost(
              160, "heap taken with %d resources".formatted(MANY), operator.committedHeap(), "MB"));
      figures.add(
          Figure.atMost(
              160, "heap in use with %d resources".formatted(MANY), operator.liveHeap(), "MB"));
      figures.add(
          Figure.atMost(
              0,
              "writes in an idle minute with %d resources, besides the lease".formatted(MANY),
              idleWrites(),
              ""));
      return figures;
    }

    /** After the garbage of the start was returned to the system. */
    private static double residentAfterAWhile(OperatorProcess operator)
        throws IOException, InterruptedException {
      TimeUnit.SECONDS.sleep(10);
      return operator.resident();
    }

    /** Returns when its status is written, so that each resource is measured alone. */
    private double untilLastObject(Arrivals arrivals) throws InterruptedException {
      PmemCSIDeployment resource = resource("bench-%d.example.com".formatted(made++));
      List<HasMetadata> desired = objects(resource);
      long start = System.nanoTime();
      client.resource(resource).create();
      double seconds = (arrivals.awaitAll(desired, LIMIT) - start) / 1e9;
      await("status", () -> isSettled(client.resource(resource).get()));
      return seconds;
    }

    private static boolean isSettled(PmemCSIDeployment resource) {
      return resource.getStatus().phaseOrNew().equals(SETTLED);
    }

    /** Every object of one resource, one after the other. */
    private double recreation(Arrivals arrivals) throws InterruptedException {
      PmemCSIDeployment resource = resource("bench-%d.example.com".formatted(made++));
      List<HasMetadata> objects = objects(resource);
      client.resource(resource).create();
      arrivals.awaitAll(objects, LIMIT);
      double slowest = 0;
      for (HasMetadata object : objects) {
        long start = System.nanoTime();
        client.resource(object).delete();
        slowest = Math.max(slowest, (arrivals.awaitAgain(object, start, LIMIT) - start) / 1e9);
      }
      return slowest;
    }

    private double settleMany() throws InterruptedException {
      long start = System.nanoTime();
      for (int i = 0; i < MANY; i++) {
        client.resource(resource("bench-%d.example.com".formatted(made++))).create();
      }
      await(
          "%d resources settle".formatted(MANY),
          () -> all().stream().filter(Run::isSettled).count() == MANY);
      double seconds = (System.nanoTime() - start) / 1e9;
      // without controllers in this cluster, DaemonSets that are deleted in the foreground stay
      long drivers =
          client
              .apps()
              .daemonSets()
              .inNamespace(sandbox.namespace())
              .withLabel("app.kubernetes.io/component", "node")
              .list()
              .getItems()
              .stream()
              .filter(daemonSet -> !daemonSet.isMarkedForDeletion())
              .count();
      if (drivers != MANY) {
        throw new IllegalStateException("%d of %d drivers are there".formatted(drivers, MANY));
      }
      return seconds;
    }

    private double idleWrites() throws InterruptedException {
      var writes = new ServerWrites(client);
      TimeUnit.SECONDS.sleep(5);
      long before = writes.count();
      TimeUnit.MILLISECONDS.sleep(IDLE.toMillis());
      return (double) (writes.count() - before);
    }

    private void removeAll() throws InterruptedException {
      client.resources(PmemCSIDeployment.class).delete();
      await("resources are removed", () -> all().isEmpty());
    }

    private List<PmemCSIDeployment> all() {
      return client.resources(PmemCSIDeployment.class).list().getItems();
    }

    private List<HasMetadata> objects(PmemCSIDeployment resource) {
      return new Rendering().objects(resource, facts);
    }

    private static PmemCSIDeployment resource(String name) {
      var resource = new PmemCSIDeployment();
      resource.setMetadata(new ObjectMetaBuilder().withName(name).build());
      return resource;
    }

    private static void await(String what, java.util.function.BooleanSupplier done)
        throws InterruptedException {
      long deadline = System.nanoTime() + LIMIT.toNanos();
      while (!done.getAsBoolean()) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("not within %d s: %s".formatted(LIMIT.toSeconds(), what));
        }
        TimeUnit.MILLISECONDS.sleep(200);
      }
    }

    private static double median(List<Double> values) {
      var sorted = new ArrayList<>(values);
      Collections.sort(sorted);
      return sorted.get(sorted.size() / 2);
    }
  }
}
