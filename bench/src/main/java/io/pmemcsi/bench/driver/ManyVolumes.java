package io.pmemcsi.bench.driver;

import csi.v1.GetCapacityRequest;
import csi.v1.ListVolumesRequest;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
import io.pmemcsi.bench.Samples;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The questions that schedulers and sidecars ask all day, on a node that is full of volumes. */
public final class ManyVolumes implements Benchmark {

  private static final int VOLUMES = 1_000;

  /** Real callers are compiled programs: until this JVM is one, too, it measures itself. */
  private static final int WARM_UP = 2_000;

  private static final int ROUNDS = 301;
  private static final long SIZE = 4L << 20;

  @Override
  public String name() {
    return "driver-answers";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = NodeProcess.newDirectory();
    try {
      fill(directory.resolve("state"), VOLUMES);
      try (NodeProcess node = NodeProcess.start(directory)) {
        CsiClient csi = node.csi();
        return List.of(
            figure("GetCapacity", () -> capacity(csi)), figure("ListVolumes", () -> list(csi)));
      }
    } finally {
      NodeProcess.remove(directory);
    }
  }

  private static Figure figure(String call, Samples.Work work) throws Exception {
    for (int i = 0; i < WARM_UP; i++) {
      work.run();
    }
    Samples times = new Samples();
    for (int i = 0; i < ROUNDS; i++) {
      times.time(work);
    }
    String what = "%s with %d volumes".formatted(call, VOLUMES);
    return Figure.atMost(2, what, times.median() * 1e3, "ms");
  }

  private static void capacity(CsiClient csi) {
    if (csi.controller()
            .getCapacity(GetCapacityRequest.getDefaultInstance())
            .getMaximumVolumeSize()
            .getValue()
        <= 0) {
      throw new IllegalStateException("the disk is full: nothing can be measured");
    }
  }

  private static void list(CsiClient csi) {
    int count =
        csi.controller().listVolumes(ListVolumesRequest.getDefaultInstance()).getEntriesCount();
    if (count != VOLUMES) {
      throw new IllegalStateException("%d volumes instead of %d".formatted(count, VOLUMES));
    }
  }

  /** What so many calls of CreateVolume leave behind after a reboot. */
  static void fill(Path state, int volumes) throws Exception {
    Ledger ledger = Ledger.open(state, new DurableFiles());
    Path devices = Files.createDirectory(state.resolve("devices"));
    for (int i = 0; i < volumes; i++) {
      String name = "pvc-" + i;
      VolumeId id = VolumeId.fromName(name);
      ledger.add(
          new VolumeRecord(
              id,
              SIZE,
              VolumeParameters.DEFAULTS.named(name, DeviceMode.FILE),
              VolumeState.Blank.wiped()));
      try (RandomAccessFile sparse =
          new RandomAccessFile(devices.resolve(id + ".img").toFile(), "rw")) {
        sparse.setLength(SIZE);
      }
    }
  }
}
