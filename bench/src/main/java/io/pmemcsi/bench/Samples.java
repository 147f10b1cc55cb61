package io.pmemcsi.bench;

import java.util.ArrayList;
import java.util.List;

/** Times of one thing that was done several times. */
public final class Samples {

  private final List<Double> seconds = new ArrayList<>();

  /** Something to be timed. */
  public interface Work {
    void run() throws Exception;
  }

  public void time(Work work) throws Exception {
    long start = System.nanoTime();
    work.run();
    add((System.nanoTime() - start) / 1e9);
  }

  /** These times, to which more can be added. */
  public Samples copy() {
    Samples copy = new Samples();
    copy.seconds.addAll(seconds);
    return copy;
  }

  public void add(double measured) {
    seconds.add(measured);
  }

  /** The one in the middle: a single slow one says more about the machine than about us. */
  public double median() {
    List<Double> sorted = seconds.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  /** The time within which this share of them was done. */
  public double percentile(double share) {
    return seconds.stream()
        .sorted()
        .skip((long) (seconds.size() * share))
        .findFirst()
        .orElseThrow();
  }
}
