package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGrpc;
import csi.v1.ControllerServiceCapability;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.Volume;
import io.grpc.ManagedChannel;
import io.grpc.Status.Code;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.metrics.DriverMetrics;
import io.pmemcsi.driver.state.DurableFiles;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Requirements of the CSI specification for NodeExpandVolume, on published raw block volumes. */
class NodeExpansionConformanceIT extends SharedDriver {

  private static final String NAME = "pvc";

  private Volume published(long bytes) {
    Volume volume = csi.create(NAME, bytes);
    csi.publish(volume, staging(), target(), block());
    return volume;
  }

  private long expand(Volume volume, long required, long limit) {
    return driver
        .node()
        .nodeExpandVolume(
            NodeExpandVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(target().toString())
                .setCapacityRange(
                    CapacityRange.newBuilder().setRequiredBytes(required).setLimitBytes(limit))
                .build())
        .getCapacityBytes();
  }

  private long recordedBytes() {
    return list(0, "").getEntries(0).getVolume().getCapacityBytes();
  }

  @AfterEach
  void unpublish() {
    list(0, "")
        .getEntriesList()
        .forEach(entry -> csi.unpublish(entry.getVolume().getVolumeId(), target()));
  }

  @Test
  void idAndPathAreRequired() {
    assertThatCall(() -> csi.expand("", target(), 0)).fails(Code.INVALID_ARGUMENT, "volume_id");
    assertThatCall(
            () ->
                driver
                    .node()
                    .nodeExpandVolume(
                        NodeExpandVolumeRequest.newBuilder().setVolumeId(UNKNOWN).build()))
        .fails(Code.INVALID_ARGUMENT, "volume_path");
  }

  /** The resizer reports this reason in an event of the claim. */
  @Test
  void aDeviceModeThatCannotExpandRefusesTheCallOfTheResizer(@TempDir Path directory) {
    DriverSettings file = FileModeDriver.settings(directory);
    DriverSettings settings =
        new DriverSettings(
            file.driverName(),
            file.nodeId(),
            file.endpoint(),
            file.statePath(),
            DeviceMode.DIRECT,
            file.pmemPercentage(),
            file.metricsListen(),
            file.metricsPath());
    CommandRunner noMemory = _ -> new CommandResult(0, "", "");
    HostAccess host =
        new HostAccess(noMemory, new DurableFiles(), new KernelMounts(), new KernelLoops());
    ManagedChannel channel = FileModeDriver.connect(settings.endpoint().socket());
    try (NodeDriver _ =
        NodeDriver.start(
            settings,
            new DriverMetrics(settings.driverName(), settings.nodeId()),
            host,
            DeviceManagers.readOnly(settings, host))) {
      ControllerGrpc.ControllerBlockingStub controller = ControllerGrpc.newBlockingStub(channel);

      assertThat(
              controller
                  .controllerGetCapabilities(ControllerGetCapabilitiesRequest.getDefaultInstance())
                  .getCapabilitiesList())
          .extracting(capability -> capability.getRpc().getType())
          .contains(ControllerServiceCapability.RPC.Type.EXPAND_VOLUME);
      assertThatCall(
              () ->
                  controller.controllerExpandVolume(
                      ControllerExpandVolumeRequest.newBuilder().setVolumeId("pvc-1").build()))
          .fails(Code.INVALID_ARGUMENT, "pvc-1: device mode direct does not support expansion");
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void theVolumeMustExist() {
    assertThatCall(() -> csi.expand(UNKNOWN, target(), 0)).fails(Code.NOT_FOUND, UNKNOWN);
  }

  @Test
  void theVolumeMustBeAtThePath() {
    String id = csi.create(NAME, MIB).getVolumeId();

    assertThatCall(() -> csi.expand(id, target(), 8 * MIB)).fails(Code.NOT_FOUND, "not mounted");

    assertThat(recordedBytes()).isEqualTo(4 * MIB);
  }

  @Test
  void aVolumeIsExpandedAndTheSizeIsRecorded() {
    Volume volume = published(4 * MIB);

    assertThat(expand(volume, 9 * MIB, 0)).isEqualTo(12 * MIB);

    assertThat(recordedBytes()).isEqualTo(12 * MIB);
  }

  @Test
  void expandingAgainToTheSameSizeChangesNothing() {
    Volume volume = published(4 * MIB);
    expand(volume, 9 * MIB, 0);

    assertThat(expand(volume, 9 * MIB, 0)).isEqualTo(12 * MIB);
  }

  @Test
  void withoutASizeTheVolumeKeepsIts() {
    Volume volume = published(4 * MIB);

    assertThat(
            driver
                .node()
                .nodeExpandVolume(
                    NodeExpandVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setVolumePath(target().toString())
                        .build())
                .getCapacityBytes())
        .isEqualTo(4 * MIB);
  }

  @Test
  void volumesNeverShrink() {
    Volume volume = published(16 * MIB);

    assertThat(expand(volume, 4 * MIB, 0)).isEqualTo(16 * MIB);
    assertThatCall(() -> expand(volume, 4 * MIB, 8 * MIB)).fails(Code.OUT_OF_RANGE, "never shrink");
  }

  @Test
  void expansionRespectsTheLimitOrFails() {
    Volume volume = published(4 * MIB);

    assertThatCall(() -> expand(volume, 9 * MIB, 10 * MIB))
        .fails(Code.OUT_OF_RANGE, "limit_bytes 10485760");

    assertThat(recordedBytes()).isEqualTo(4 * MIB);
    assertThat(expand(volume, 9 * MIB, 12 * MIB)).isEqualTo(12 * MIB);
  }

  @Test
  void expansionBeyondTheAvailableCapacityFails() {
    Volume volume = published(16 * MIB);

    assertThatCall(() -> expand(volume, 1L << 50, 0))
        .fails(Code.OUT_OF_RANGE, "not enough space for 1125899906842624 bytes")
        .saying("lower the request of its claim");

    assertThat(recordedBytes()).isEqualTo(16 * MIB);
    assertThat(expand(volume, 32 * MIB, 0)).isEqualTo(32 * MIB);
  }

  @Test
  void aFilesystemThatIsPublishedReadOnlyIsExpandedThroughItsStagingPath() {
    Volume volume = csi.create(NAME, 320 * MIB);
    csi.stage(volume, staging(), mount("xfs"));
    csi.publish(Calls.publication(volume, staging(), target(), mount("xfs")).setReadonly(true));
    long before = target().toFile().getTotalSpace();

    assertThat(expand(volume, 640 * MIB, 0)).isEqualTo(640 * MIB);

    assertThat(target().toFile().getTotalSpace()).isGreaterThan(before + 250 * MIB);
    csi.unpublish(volume.getVolumeId(), target());
    csi.unstage(volume.getVolumeId(), staging());
  }

  @Test
  void aFilesystemThatIsReadOnlyEverywhereIsLeftAsItIs() {
    Volume volume = csi.create(NAME, 16 * MIB);
    csi.stage(volume, target(), mount("ext4"));
    csi.unstage(volume.getVolumeId(), target());
    csi.stage(volume, target(), mount("ext4", "ro"));

    assertThatCall(() -> expand(volume, 32 * MIB, 0))
        .fails(Code.FAILED_PRECONDITION, "mounted read-only");

    assertThat(recordedBytes()).isEqualTo(16 * MIB);
    csi.unstage(volume.getVolumeId(), target());
  }

  @Test
  void aKataVolumeIsRefusedWithTheReason() {
    String id =
        csi.create(request(NAME, 16 * MIB).putParameters("kataContainers", "1")).getVolumeId();

    assertThatCall(() -> csi.expand(id, target(), 32 * MIB))
        .fails(Code.INVALID_ARGUMENT, "Kata Containers");
  }
}
