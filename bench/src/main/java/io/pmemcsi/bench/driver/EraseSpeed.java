package io.pmemcsi.bench.driver;

import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Overwriting a device, beside dd with direct I/O. */
public final class EraseSpeed implements Benchmark {

  private static final int ROUNDS = 7;
  private static final VolumeId VOLUME = VolumeId.fromName("bench");
  private static final long SIZE = 512L << 20;

  private final ProcessRunner runner = new ProcessRunner();

  @Override
  public String name() {
    return "driver-erase";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path file = Files.createTempFile("pmem-csi-bench", ".img");
    LoopDevices loops = new LoopDevices(new KernelLoops());
    try {
      runner.run(Command.of("fallocate", "-l", Long.toString(SIZE), file.toString()));
      Path device = loops.attach(file, 0);
      try {
        return measure(device);
      } finally {
        loops.detach(device);
      }
    } finally {
      Files.delete(file);
    }
  }

  private List<Figure> measure(Path device) throws Exception {
    Samples eraserTimes = new Samples();
    Samples dd = new Samples();
    Eraser eraser = new Eraser((_, _, _) -> {});
    for (int round = 0; round <= ROUNDS; round++) {
      boolean warmUp = round == 0;
      (warmUp ? new Samples() : dd).time(() -> byHand(device));
      (warmUp ? new Samples() : eraserTimes)
          .time(() -> eraser.erase(new Device(VOLUME, device, SIZE)));
    }
    System.out.printf(
        "  erase %.0f MiB/s, dd %.0f MiB/s%n",
        (SIZE >> 20) / eraserTimes.median(), (SIZE >> 20) / dd.median());
    return List.of(
        Figure.atLeast(
            0.9, "speed of erase / dd with direct I/O", dd.median() / eraserTimes.median(), ""));
  }

  private void byHand(Path device) {
    runner.run(
        Command.of(
            "dd",
            "if=/dev/zero",
            "of=" + device,
            "bs=8M",
            "count=" + SIZE / (8 << 20),
            "oflag=direct",
            "conv=fsync"));
  }
}
