package io.pmemcsi.bench;

import io.pmemcsi.bench.controller.ExtenderSpeed;
import io.pmemcsi.bench.controller.SchedulerThroughput;
import io.pmemcsi.bench.driver.CopySpeed;
import io.pmemcsi.bench.driver.EraseSpeed;
import io.pmemcsi.bench.driver.ExpansionByHand;
import io.pmemcsi.bench.driver.FileByHand;
import io.pmemcsi.bench.driver.ForwardedCreates;
import io.pmemcsi.bench.driver.HundredNodes;
import io.pmemcsi.bench.driver.LvmByHand;
import io.pmemcsi.bench.driver.ManyVolumes;
import io.pmemcsi.bench.driver.NodeSize;
import io.pmemcsi.bench.driver.ParallelCreates;
import io.pmemcsi.bench.driver.ProbeSpeed;
import io.pmemcsi.bench.operator.OperatorBenchmark;
import io.pmemcsi.bench.template.ThousandDrivers;
import io.pmemcsi.bench.testbed.FreshNamespace;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Runs the benchmarks that are named, or all of them; exits 1 when a promise was missed. */
public final class Bench {

  private static final List<Benchmark> ALL =
      List.of(
          new OperatorBenchmark(),
          new ThousandDrivers(),
          new LvmByHand(),
          new ExpansionByHand(),
          new FileByHand(),
          new ProbeSpeed(),
          new ManyVolumes(),
          new ParallelCreates(),
          new EraseSpeed(),
          new CopySpeed(),
          new NodeSize(),
          new ForwardedCreates(),
          new HundredNodes(),
          new ExtenderSpeed(),
          new SchedulerThroughput(),
          new FreshNamespace());

  private Bench() {}

  public static void main(String[] names) throws Exception {
    List<Benchmark> chosen = chosen(List.of(names));
    var figures = new ArrayList<Figure>();
    for (Benchmark benchmark : chosen) {
      System.out.println("measuring " + benchmark.name());
      for (Figure figure : benchmark.measure()) {
        System.out.println(figure.line());
        figures.add(figure);
      }
    }
    System.exit(figures.stream().allMatch(Figure::isKept) ? 0 : 1);
  }

  private static List<Benchmark> chosen(List<String> names) {
    List<String> known = ALL.stream().map(Benchmark::name).toList();
    for (String name : names) {
      if (!known.contains(name)) {
        System.err.printf(
            "%s is not a benchmark: choose from %s%n",
            name, known.stream().collect(Collectors.joining(", ")));
        System.exit(2);
      }
    }
    return ALL.stream()
        .filter(benchmark -> names.isEmpty() || names.contains(benchmark.name()))
        .toList();
  }
}
