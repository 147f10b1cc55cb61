package io.pmemcsi.driver.guest;

import csi.v1.CapacityRange;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.Volume;
import io.pmemcsi.driver.FileModeDriver;
import java.nio.file.Path;

/** Runs on the host: does what the driver does in the guest, as far as files allow it. */
final class TrainingMain {
  private TrainingMain() {}

  /** Wants an empty folder. */
  public static void main(String[] args) {
    try (FileModeDriver driver = FileModeDriver.start(Path.of(args[0]))) {
      driver.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance());
      driver.node().nodeGetInfo(NodeGetInfoRequest.getDefaultInstance());
      driver.controller().getCapacity(GetCapacityRequest.getDefaultInstance());
      Volume volume =
          driver
              .controller()
              .createVolume(
                  CreateVolumeRequest.newBuilder()
                      .setName("training")
                      .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(32L << 20))
                      .addVolumeCapabilities(GuestDriver.mount("ext4"))
                      .build())
              .getVolume();
      driver.controller().listVolumes(ListVolumesRequest.getDefaultInstance());
      driver
          .controller()
          .deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(volume.getVolumeId()).build());
    }
    System.exit(0);
  }
}
