package io.pmemcsi.bench.driver;

import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import io.pmemcsi.driver.device.BlockCopier;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Copying a device for a snapshot, beside dd with direct I/O between the same devices. */
public final class CopySpeed implements Benchmark {

  private static final int ROUNDS = 7;
  private static final long SIZE = 512L << 20;

  private final ProcessRunner runner = new ProcessRunner();
  private final LoopDevices loops = new LoopDevices(new KernelLoops());

  @Override
  public String name() {
    return "driver-copy";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path from = Files.createTempFile("pmem-csi-bench", ".img");
    Path to = Files.createTempFile("pmem-csi-bench", ".img");
    try {
      runner.run(
          Command.of("dd", "if=/dev/urandom", "of=" + from, "bs=8M", "count=" + SIZE / (8 << 20)));
      runner.run(Command.of("fallocate", "-l", Long.toString(SIZE), to.toString()));
      Path source = loops.attach(from, 0);
      try {
        Path target = loops.attach(to, 0);
        try {
          return measure(source, target);
        } finally {
          loops.detach(target);
        }
      } finally {
        loops.detach(source);
      }
    } finally {
      Files.delete(from);
      Files.delete(to);
    }
  }

  private List<Figure> measure(Path source, Path target) throws Exception {
    Samples ours = new Samples();
    Samples dd = new Samples();
    Device from = new Device(VolumeId.fromName("source"), source, SIZE);
    Device to = new Device(VolumeId.fromName("target"), target, SIZE);
    for (int round = 0; round <= ROUNDS; round++) {
      boolean warmUp = round == 0;
      (warmUp ? new Samples() : dd).time(() -> byHand(source, target));
      (warmUp ? new Samples() : ours).time(() -> BlockCopier.copy(from, to, false));
    }
    System.out.printf(
        "  copy %.0f MiB/s, dd %.0f MiB/s%n",
        (SIZE >> 20) / ours.median(), (SIZE >> 20) / dd.median());
    return List.of(
        Figure.atLeast(0.8, "speed of copy / dd with direct I/O", dd.median() / ours.median(), ""));
  }

  private void byHand(Path source, Path target) {
    runner.run(
        Command.of(
            "dd",
            "if=" + source,
            "of=" + target,
            "bs=8M",
            "count=" + SIZE / (8 << 20),
            "iflag=direct",
            "oflag=direct",
            "conv=fsync"));
  }
}
