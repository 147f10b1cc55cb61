package io.pmemcsi.bench.testbed;

import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import io.pmemcsi.testbed.kubernetes.Cluster;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import java.util.List;

/**
 * A namespace of its own and a client that has got its first answer, which is what each test on a
 * real API server begins with, beside the start of that server.
 */
public final class FreshNamespace implements Benchmark {

  private static final int ROUNDS = 60;
  private static final int WARM_UP = 10;

  /** Milliseconds where the server takes seconds. */
  private static final double SHARE = 0.02;

  @Override
  public String name() {
    return "testbed-namespace";
  }

  @Override
  public List<Figure> measure() {
    long start = System.nanoTime();
    try (Cluster cluster = Cluster.open()) {
      double serverSeconds = (System.nanoTime() - start) / 1e9;
      Samples fresh = new Samples();
      for (int round = 0; round < WARM_UP + ROUNDS; round++) {
        measure(cluster, round < WARM_UP ? new Samples() : fresh);
      }
      System.out.printf(
          "a namespace and a client take %.0f ms, the server %.1f s%n",
          fresh.median() * 1e3, serverSeconds);
      return List.of(
          Figure.atMost(
              SHARE,
              "fresh namespace with a client / start of the API server",
              fresh.median() / serverSeconds,
              ""));
    }
  }

  private static void measure(Cluster cluster, Samples times) {
    long start = System.nanoTime();
    try (Sandbox sandbox = cluster.newSandbox("bench")) {
      sandbox.client().configMaps().list();
      times.add((System.nanoTime() - start) / 1e9);
    }
  }
}
