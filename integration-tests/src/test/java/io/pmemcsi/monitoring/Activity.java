package io.pmemcsi.monitoring;

import csi.v1.CapacityRange;
import csi.v1.ControllerGrpc.ControllerBlockingStub;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.VolumeCapability;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.standin.DriverClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

/** What a small cluster asks of its drivers: volumes come and go, some calls are wrong. */
final class Activity {

  private static final int MOST_VOLUMES = 7;
  private static final long SMALL = 64L << 20;

  private final List<DriverClient> drivers;
  private final List<Deque<String>> volumes = new ArrayList<>();
  private final List<String> lost = new ArrayList<>();
  private final Random random = new Random(1);
  private int count;

  Activity(List<DriverClient> drivers) {
    this.drivers = drivers;
    drivers.forEach(_ -> volumes.add(new ArrayDeque<>()));
  }

  /** Calls each driver some times; each step has a call that fails. */
  void step() {
    for (int i = 0; i < drivers.size(); i++) {
      ControllerBlockingStub driver = drivers.get(i).controller();
      long free =
          driver.getCapacity(GetCapacityRequest.getDefaultInstance()).getAvailableCapacity();
      for (int calls = random.nextInt(4); calls > 0; calls--) {
        var _ = driver.listVolumes(ListVolumesRequest.getDefaultInstance());
      }
      Deque<String> existing = volumes.get(i);
      int action = random.nextInt(9);
      if (action < 3 && existing.size() < MOST_VOLUMES) {
        existing.add(create(driver, free / (8 + random.nextInt(8))));
      } else if (action == 3 && !existing.isEmpty()) {
        delete(driver, existing.remove());
      }
    }
    for (int calls = 1 + random.nextInt(2); calls > 0; calls--) {
      refused(drivers.get(random.nextInt(drivers.size())).controller());
    }
  }

  /** Creates a volume and removes its file: the audit reports the volume as abnormal. */
  void loseVolume(Path devices) throws IOException {
    String volume = create(drivers.getFirst().controller(), SMALL);
    Files.delete(devices.resolve(volume + ".img"));
    lost.add(volume);
  }

  /** Their loop devices would stay after the test. */
  void deleteVolumes() {
    for (int i = 0; i < drivers.size(); i++) {
      ControllerBlockingStub driver = drivers.get(i).controller();
      volumes.get(i).forEach(volume -> delete(driver, volume));
    }
    lost.forEach(volume -> delete(drivers.getFirst().controller(), volume));
  }

  private static void delete(ControllerBlockingStub driver, String volume) {
    var _ = driver.deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(volume).build());
  }

  private String create(ControllerBlockingStub driver, long size) {
    count++;
    return driver
        .createVolume(
            CreateVolumeRequest.newBuilder()
                .setName("volume-" + count)
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(size))
                .addVolumeCapabilities(
                    VolumeCapability.newBuilder()
                        .setMount(VolumeCapability.MountVolume.getDefaultInstance())
                        .setAccessMode(
                            VolumeCapability.AccessMode.newBuilder()
                                .setMode(VolumeCapability.AccessMode.Mode.SINGLE_NODE_WRITER)))
                .build())
        .getVolume()
        .getVolumeId();
  }

  private static void refused(ControllerBlockingStub driver) {
    try {
      var _ = driver.deleteVolume(DeleteVolumeRequest.getDefaultInstance());
      throw new AssertionError("a call without a volume ID was accepted");
    } catch (StatusRuntimeException _) {
      // as it should be
    }
  }
}
