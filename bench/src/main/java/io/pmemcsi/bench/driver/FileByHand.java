package io.pmemcsi.bench.driver;

import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The whole life of a volume in mode file, compared with the commands that do the same by hand. */
public final class FileByHand implements Benchmark {

  private static final int WARM_UP = 30;
  private static final int ROUNDS = 41;
  private static final int MANY = 1_000;
  private static final long SIZE = 16L << 20;

  private static final String COMMANDS =
      """
      set -e
      truncate --size=%d image
      loop=$(losetup --find --show --direct-io=on image)
      mkfs.ext4 -q -F -b 4096 -E stride=512,stripe_width=512 $loop
      mkdir staging target
      mount -t ext4 $loop staging
      mount --bind staging target
      umount target
      rmdir target
      umount staging
      rmdir staging
      losetup --detach $loop
      rm image
      """
          .formatted(SIZE);

  @Override
  public String name() {
    return "driver-file";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = NodeProcess.newDirectory();
    Path byHand = Files.createDirectory(directory.resolve("by-hand"));
    try (NodeProcess node = NodeProcess.start(directory)) {
      for (int i = 0; i < WARM_UP; i++) {
        life(node);
      }
      Samples driver = new Samples();
      Samples commands = new Samples();
      for (int round = 0; round < ROUNDS; round++) {
        driver.time(() -> life(node));
        commands.time(() -> run(byHand));
      }
      List<Volume> others = new ArrayList<>();
      for (int i = 0; i < MANY; i++) {
        others.add(node.csi().create("other-" + i, SIZE));
      }
      Samples withMany = new Samples();
      times(withMany, node);
      others.forEach(node.csi()::delete);
      // after as well as before: the machine may become slower or faster
      Samples withNone = driver.copy();
      times(withNone, node);
      System.out.printf(
          "  driver %.1f ms, with %d other volumes %.1f ms, commands %.1f ms%n",
          driver.median() * 1e3, MANY, withMany.median() * 1e3, commands.median() * 1e3);
      return List.of(
          Figure.atMost(
              1.5,
              "life of a volume in mode file / by hand",
              driver.median() / commands.median(),
              ""),
          Figure.atMost(
              1.15,
              "life with %d other volumes on the node / with none".formatted(MANY),
              withMany.median() / withNone.median(),
              ""));
    } finally {
      NodeProcess.remove(directory);
    }
  }

  private static void times(Samples samples, NodeProcess node) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      samples.time(() -> life(node));
    }
  }

  private static void life(NodeProcess node) throws IOException {
    CsiClient csi = node.csi();
    String staging = node.pod("staging");
    String target = node.pod("target");
    Volume volume = csi.create("pvc", SIZE);
    csi.stage(volume, staging);
    csi.publish(volume, staging, target);
    csi.unpublish(volume, target);
    csi.unstage(volume, staging);
    csi.delete(volume);
    Files.deleteIfExists(Path.of(staging));
  }

  private static void run(Path directory) throws Exception {
    Process shell =
        new ProcessBuilder("sh", "-c", COMMANDS).directory(directory.toFile()).inheritIO().start();
    if (shell.waitFor() != 0) {
      throw new IOException("the commands failed");
    }
  }
}
