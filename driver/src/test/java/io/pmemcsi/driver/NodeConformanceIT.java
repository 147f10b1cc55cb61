package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetInfoResponse;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGetVolumeStatsResponse;
import csi.v1.NodeServiceCapability;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCondition;
import csi.v1.VolumeUsage;
import io.grpc.Status.Code;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requirements of the CSI specification for the Node service, except publishing. */
class NodeConformanceIT extends SharedDriver {

  @Nested
  class NodeInformation {

    @Test
    void theNodeIdAndItsTopologyAreReported() {
      NodeGetInfoResponse info = driver.node().nodeGetInfo(NodeGetInfoRequest.getDefaultInstance());

      assertThat(info.getNodeId()).isEqualTo(FileModeDriver.NODE);
      assertThat(info.getMaxVolumesPerNode()).isZero();
      assertThat(info.getAccessibleTopology().getSegmentsMap())
          .containsExactly(Map.entry(FileModeDriver.NAME + "/node", FileModeDriver.NODE));
    }

    @Test
    void theCapabilitiesListEachImplementedCall() {
      assertThat(
              driver
                  .node()
                  .nodeGetCapabilities(NodeGetCapabilitiesRequest.getDefaultInstance())
                  .getCapabilitiesList())
          .extracting(c -> c.getRpc().getType())
          .containsExactlyInAnyOrder(
              NodeServiceCapability.RPC.Type.STAGE_UNSTAGE_VOLUME,
              NodeServiceCapability.RPC.Type.GET_VOLUME_STATS,
              NodeServiceCapability.RPC.Type.VOLUME_CONDITION,
              NodeServiceCapability.RPC.Type.EXPAND_VOLUME,
              NodeServiceCapability.RPC.Type.SINGLE_NODE_MULTI_WRITER);
    }
  }

  @Nested
  class NodeStage {

    private NodeStageVolumeRequest.Builder good(Volume volume) {
      return NodeStageVolumeRequest.newBuilder()
          .setVolumeId(volume.getVolumeId())
          .setStagingTargetPath(staging().toString())
          .setVolumeCapability(mount("ext4"));
    }

    private void stage(NodeStageVolumeRequest.Builder request) {
      assertThat(driver.node().nodeStageVolume(request.build())).isNotNull();
    }

    @Test
    void idPathAndCapabilityAreRequired() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).clearVolumeId()))
          .fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(() -> stage(good(volume).clearStagingTargetPath()))
          .fails(Code.INVALID_ARGUMENT, "staging_target_path");
      assertThatCall(() -> stage(good(volume).clearVolumeCapability()))
          .fails(Code.INVALID_ARGUMENT, "volume_capability");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> stage(good(Volume.newBuilder().setVolumeId(UNKNOWN).build())))
          .fails(Code.NOT_FOUND, UNKNOWN);
    }

    @Test
    void pathsMustBeAbsolute() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setStagingTargetPath("relative")))
          .fails(Code.INVALID_ARGUMENT, "\"relative\" is not an absolute path");
    }

    @Test
    void aPathThatCannotBeCreatedIsReported() {
      Volume volume = csi.create("pvc", 16 * MIB);
      Path parent = scratch.pod("missing");
      Path tooLong = scratch.pod("x".repeat(300));

      assertThatCall(
              () -> stage(good(volume).setStagingTargetPath(parent.resolve("path").toString())))
          .fails(Code.INTERNAL, "directory %s does not exist".formatted(parent));
      assertThatCall(() -> stage(good(volume).setStagingTargetPath(tooLong.toString())))
          .fails(
              Code.INTERNAL,
              "cannot create the directory %s: File name too long".formatted(tooLong));
    }

    @Test
    void anUnknownContextIsInvalid() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).putVolumeContext("colour", "red")))
          .fails(Code.INVALID_ARGUMENT, "persistent volume context: ");
    }

    @Test
    void stagingTwiceSucceeds() {
      Volume volume = csi.create("pvc", 16 * MIB);
      stage(good(volume));
      stage(good(volume));

      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void stagingTwiceWithOtherFlagsIsRefused() {
      Volume volume = csi.create("pvc", 16 * MIB);
      stage(good(volume));

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("ext4", "noatime"))))
          .fails(Code.ALREADY_EXISTS, "noatime");
      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("xfs"))))
          .fails(Code.ALREADY_EXISTS, "xfs");

      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void mountFlagsAreApplied() {
      Volume volume = csi.create("pvc", 16 * MIB);

      stage(good(volume).setVolumeCapability(mount("ext4", "noatime", "nosuid")));

      assertThat(MountTable.read().at(staging()).orElseThrow().options())
          .contains("noatime", "nosuid");
      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void theQuotedSelinuxLabelOfKubeletIsAMountFlag() {
      Volume volume = csi.create("pvc", 16 * MIB);
      String label = "context=\"system_u:object_r:container_file_t:s0:c309,c383\"";

      stage(good(volume).setVolumeCapability(mount("ext4", "noatime", label)));

      assertThat(MountTable.read().at(staging()).orElseThrow().options()).contains("noatime");
      csi.unstage(volume.getVolumeId(), staging());
    }

    @ParameterizedTest
    @ValueSource(
        strings = {
          "bind",
          "remount",
          "a,b",
          "",
          "a b",
          "move",
          "loop",
          "X-mount.mkdir",
          "context=s0:c1,c2",
          "context=\"s0:c1\",suid"
        })
    void dangerousMountFlagsAreInvalid(String flag) {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("ext4", flag))))
          .fails(Code.INVALID_ARGUMENT, "mount_flags \"" + flag + "\"");
    }

    @Test
    void aFlagThatTheKernelRefusesIsReportedAndLeavesNoMount() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("ext4", "nonsense"))))
          .fails(Code.INTERNAL, "nonsense");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dax", "dax=always"})
    void daxIsRefusedWhereTheDeviceDoesNotSupportIt(String flag) {
      Volume volume = csi.create("pvc", 300 * MIB);
      Volume kata = csi.create(request("kata", 64 * MIB).putParameters("kataContainers", "true"));

      for (String type : List.of("ext4", "xfs")) {
        assertThatCall(() -> csi.stage(volume, staging(), mount(type, flag)))
            .fails(Code.FAILED_PRECONDITION, "device mode file, which does not support DAX");
      }
      assertThatCall(() -> csi.stage(kata, staging(), mount("ext4", flag)))
          .fails(Code.FAILED_PRECONDITION, "does not support DAX");
      assertThatCall(
              () ->
                  csi.publish(
                      Calls.ephemeral("csi-1", target(), mount("", flag), Map.of("size", "16Mi"))))
          .fails(Code.FAILED_PRECONDITION, "does not support DAX");
      csi.stage(volume, staging(), mount("xfs"));
      assertThatCall(() -> csi.publish(volume, staging(), target(), mount("xfs", flag)))
          .fails(Code.ALREADY_EXISTS, "is mounted without DAX");
      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void xfsRequiresALargerVolume() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stage(good(volume).setVolumeCapability(mount("xfs"))))
          .fails(Code.FAILED_PRECONDITION, "xfs needs at least");
    }

    @Test
    void aRawBlockVolumeIsNotMounted() {
      Volume volume = csi.create("pvc", 16 * MIB);

      stage(good(volume).setVolumeCapability(block()));

      assertThat(MountTable.read().at(staging())).isEmpty();
      csi.unstage(volume.getVolumeId(), staging());
    }
  }

  @Nested
  class NodeUnstage {

    private void unstage(String id, String path) {
      assertThat(
              driver
                  .node()
                  .nodeUnstageVolume(
                      NodeUnstageVolumeRequest.newBuilder()
                          .setVolumeId(id)
                          .setStagingTargetPath(path)
                          .build()))
          .isNotNull();
    }

    @Test
    void idAndPathAreRequired() {
      assertThatCall(() -> unstage("", "/x")).fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(() -> unstage(UNKNOWN, ""))
          .fails(Code.INVALID_ARGUMENT, "staging_target_path");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> unstage(UNKNOWN, staging().toString())).fails(Code.NOT_FOUND);
    }

    @Test
    void unstagingAVolumeThatIsNotStagedSucceeds() {
      Volume volume = csi.create("pvc", 16 * MIB);

      unstage(volume.getVolumeId(), staging().toString());
    }
  }

  @Nested
  class Statistics {

    private NodeGetVolumeStatsResponse stats(String id, String path) {
      return driver
          .node()
          .nodeGetVolumeStats(
              NodeGetVolumeStatsRequest.newBuilder().setVolumeId(id).setVolumePath(path).build());
    }

    @Test
    void idAndPathAreRequired() {
      assertThatCall(() -> stats("", "/x")).fails(Code.INVALID_ARGUMENT, "volume_id");
      assertThatCall(() -> stats(UNKNOWN, "")).fails(Code.INVALID_ARGUMENT, "volume_path");
    }

    @Test
    void theVolumeMustExist() {
      assertThatCall(() -> stats(UNKNOWN, "/x")).fails(Code.NOT_FOUND);
    }

    @Test
    void theVolumeMustBeAtThePath() {
      Volume volume = csi.create("pvc", 16 * MIB);

      assertThatCall(() -> stats(volume.getVolumeId(), target().toString()))
          .fails(Code.NOT_FOUND, "not mounted");
      assertThatCall(() -> stats(volume.getVolumeId(), "some/path"))
          .fails(Code.NOT_FOUND, "not mounted");
    }

    @Test
    void bytesAndInodesOfAFilesystemAreConsistent() throws IOException {
      Volume volume = csi.create("pvc", 32 * MIB);
      csi.stage(volume, staging(), mount("ext4"));
      Files.write(staging().resolve("data"), new byte[(int) (4 * MIB)]);

      List<VolumeUsage> usage = stats(volume.getVolumeId(), staging().toString()).getUsageList();

      assertThat(usage)
          .extracting(VolumeUsage::getUnit)
          .containsExactly(VolumeUsage.Unit.BYTES, VolumeUsage.Unit.INODES);
      assertThat(usage.getFirst().getUsed()).isGreaterThan(4 * MIB);
      assertThat(usage).allMatch(u -> u.getUsed() + u.getAvailable() <= u.getTotal());
      assertThat(stats(volume.getVolumeId(), staging().toString()).getVolumeCondition())
          .isEqualTo(
              VolumeCondition.newBuilder()
                  .setAbnormal(false)
                  .setMessage("no problem is known")
                  .build());
      csi.unstage(volume.getVolumeId(), staging());
    }

    @Test
    void aKataVolumeReportsTheUsageOfItsImage() throws IOException {
      Volume volume =
          csi.create(Calls.request("kata", 64 * MIB).putParameters("kataContainers", "true"));
      csi.stage(volume, staging(), mount("ext4"));
      csi.publish(volume, staging(), target(), mount("ext4"));
      long before = stats(volume.getVolumeId(), target().toString()).getUsage(0).getUsed();

      Files.write(target().resolve("data"), new byte[(int) (4 * MIB)]);
      flush(target());

      VolumeUsage usage = stats(volume.getVolumeId(), target().toString()).getUsage(0);
      assertThat(usage.getUsed()).isGreaterThanOrEqualTo(before + 4 * MIB);
      assertThat(usage.getTotal()).isLessThan(64 * MIB);
      csi.unpublish(volume.getVolumeId(), target());
      csi.unstage(volume.getVolumeId(), staging());
    }

    private void flush(Path directory) throws IOException {
      try (FileChannel channel = FileChannel.open(directory.resolve("data"))) {
        channel.force(true);
      }
    }

    @Test
    void anEphemeralVolumeIsFoundByItsHandle() {
      csi.publish(Calls.ephemeral("csi-1", target(), mount(""), Map.of("size", "32Mi")));

      assertThat(stats("csi-1", target().toString()).getUsage(0).getTotal())
          .isBetween(16 * MIB, 32 * MIB);
      csi.unpublish("csi-1", target());
    }

    @Test
    void aRawBlockVolumeReportsItsSize() {
      Volume volume = csi.create("pvc", 32 * MIB);
      csi.publish(volume, staging(), target(), block());

      VolumeUsage usage = stats(volume.getVolumeId(), target().toString()).getUsage(0);

      assertThat(usage.getTotal()).isEqualTo(32 * MIB);
      assertThat(usage.getAvailable())
          .as("no alert: how much is written is unknown")
          .isEqualTo(32 * MIB);
      assertThat(usage.getUsed()).isZero();
      csi.unpublish(volume.getVolumeId(), target());
    }
  }
}
