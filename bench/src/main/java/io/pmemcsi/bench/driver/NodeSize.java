package io.pmemcsi.bench.driver;

import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** How soon the program answers, how much memory it keeps, and whether it gives memory back. */
public final class NodeSize implements Benchmark {

  private static final int STARTS = 7;
  private static final int LIVES = 100;
  private static final int MANY = 1_000;
  private static final int MANY_LIVES = 2_000;
  private static final long SIZE = 16L << 20;

  /** Time for the JVM to finish what it does in the background, and to give memory back. */
  private static final long IDLE_MILLIS = 15_000;

  @Override
  public String name() {
    return "driver-process";
  }

  @Override
  public List<Figure> measure() throws Exception {
    List<Figure> figures = new ArrayList<>(starts());
    figures.addAll(memory());
    return figures;
  }

  private static List<Figure> starts() throws Exception {
    Path empty = NodeProcess.newDirectory();
    Path full = NodeProcess.newDirectory();
    try {
      Samples withNone = new Samples();
      ManyVolumes.fill(full.resolve("state"), MANY);
      Samples afterReboot = new Samples();
      for (int i = 0; i < STARTS; i++) {
        start(empty, withNone);
        start(full, afterReboot);
      }
      return List.of(
          Figure.atMost(0.6, "first CSI answer after the start", withNone.median(), "s"),
          Figure.atMost(
              1.3,
              "start with %d volumes / with none".formatted(MANY),
              afterReboot.median() / withNone.median(),
              ""),
          updates(empty));
    } finally {
      NodeProcess.remove(empty);
      NodeProcess.remove(full);
    }
  }

  /** A new driver pod meets volumes that are attached and mounted. */
  private static Figure updates(Path empty) throws Exception {
    Path directory = NodeProcess.newDirectory();
    List<Volume> volumes = new ArrayList<>();
    try {
      try (NodeProcess node = NodeProcess.start(directory)) {
        for (int i = 0; i < MANY; i++) {
          volumes.add(node.csi().create("pvc-" + i, SIZE));
          node.csi().stage(volumes.get(i), node.pod("staging-" + i));
        }
      }
      Samples withNone = new Samples();
      Samples inUse = new Samples();
      for (int i = 0; i < STARTS; i++) {
        start(empty, withNone);
        start(directory, inUse);
      }
      return Figure.atMost(
          1.3,
          "start with %d volumes in use / with none".formatted(MANY),
          inUse.median() / withNone.median(),
          "");
    } finally {
      try (NodeProcess node = NodeProcess.start(directory)) {
        for (int i = 0; i < volumes.size(); i++) {
          node.csi().unstage(volumes.get(i), node.pod("staging-" + i));
          node.csi().delete(volumes.get(i));
        }
      }
      NodeProcess.remove(directory);
    }
  }

  private static void start(Path directory, Samples times) throws Exception {
    List<NodeProcess> started = new ArrayList<>();
    times.time(() -> started.add(NodeProcess.start(directory)));
    started.getFirst().close();
  }

  private static List<Figure> memory() throws Exception {
    Path directory = NodeProcess.newDirectory();
    try (NodeProcess node = NodeProcess.start(directory)) {
      live(node, LIVES);
      Thread.sleep(IDLE_MILLIS);
      double resident = node.residentMiB();
      double before = node.anonymousMiB();

      List<Volume> volumes = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        volumes.add(node.csi().create("pvc-" + i, SIZE));
      }
      Thread.sleep(IDLE_MILLIS);
      double residentWithMany = node.residentMiB();
      double anonymousWithMany = node.anonymousMiB();

      volumes.forEach(node.csi()::delete);
      Thread.sleep(IDLE_MILLIS);
      double afterChurn = node.anonymousMiB();

      live(node, MANY_LIVES);
      Thread.sleep(IDLE_MILLIS);
      double afterLives = node.anonymousMiB();
      System.out.printf(
          "  anonymous memory: %.1f MiB after %d lives, %.1f with %d volumes, %.1f without them,"
              + " %.1f after %d lives%n",
          before, LIVES, anonymousWithMany, MANY, afterChurn, afterLives, MANY_LIVES);
      return List.of(
          Figure.atMost(90, "resident memory, idle after 100 volumes", resident, "MiB"),
          Figure.atMost(75, "resident memory with 1000 volumes", residentWithMany, "MiB"),
          Figure.atMost(40, "anonymous memory with 1000 volumes", anonymousWithMany, "MiB"),
          Figure.atMost(1.1, "anonymous memory without them / before", afterChurn / before, ""),
          Figure.atMost(
              1.05,
              "anonymous memory after %d lives / before them".formatted(MANY_LIVES),
              afterLives / afterChurn,
              ""));
    } finally {
      NodeProcess.remove(directory);
    }
  }

  /** Every volume lives its whole life, ten of them are there at the same time. */
  private static void live(NodeProcess node, int lives) {
    CsiClient csi = node.csi();
    for (int group = 0; group < lives / 10; group++) {
      List<Volume> volumes = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        Volume volume = csi.create("pvc-%d-%d".formatted(group, i), SIZE);
        String staging = node.pod("staging-" + i);
        csi.stage(volume, staging);
        csi.publish(volume, staging, node.pod("target-" + i));
        volumes.add(volume);
      }
      for (int i = 0; i < 10; i++) {
        csi.unpublish(volumes.get(i), node.pod("target-" + i));
        csi.unstage(volumes.get(i), node.pod("staging-" + i));
        csi.delete(volumes.get(i));
      }
    }
  }
}
