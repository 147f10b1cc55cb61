package io.pmemcsi.driver;

import csi.v1.CapacityRange;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.Snapshot;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import csi.v1.VolumeContentSource;
import io.pmemcsi.driver.device.VolumeId;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** CSI calls with the parameters that tests use. */
final class Calls {

  static final long MIB = 1L << 20;

  private final FileModeDriver driver;

  Calls(FileModeDriver driver) {
    this.driver = driver;
  }

  static VolumeCapability mount(String type, String... flags) {
    return VolumeCapability.newBuilder()
        .setMount(
            VolumeCapability.MountVolume.newBuilder()
                .setFsType(type)
                .addAllMountFlags(List.of(flags)))
        .setAccessMode(mode(Mode.SINGLE_NODE_WRITER))
        .build();
  }

  static VolumeCapability block() {
    return VolumeCapability.newBuilder()
        .setBlock(VolumeCapability.BlockVolume.getDefaultInstance())
        .setAccessMode(mode(Mode.SINGLE_NODE_WRITER))
        .build();
  }

  static VolumeCapability with(VolumeCapability capability, Mode mode) {
    return capability.toBuilder().setAccessMode(mode(mode)).build();
  }

  private static VolumeCapability.AccessMode mode(Mode mode) {
    return VolumeCapability.AccessMode.newBuilder().setMode(mode).build();
  }

  static CreateVolumeRequest.Builder request(String name, long bytes) {
    return CreateVolumeRequest.newBuilder()
        .setName(name)
        .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
        .addVolumeCapabilities(mount(""));
  }

  static CreateVolumeRequest.Builder cloned(String name, long bytes, Volume volume) {
    return request(name, bytes)
        .setVolumeContentSource(
            VolumeContentSource.newBuilder()
                .setVolume(
                    VolumeContentSource.VolumeSource.newBuilder()
                        .setVolumeId(volume.getVolumeId())));
  }

  Volume create(String name, long bytes) {
    return create(request(name, bytes));
  }

  Volume create(CreateVolumeRequest.Builder request) {
    return driver.controller().createVolume(request.build()).getVolume();
  }

  void delete(String id) {
    driver.controller().deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(id).build());
  }

  void deleteByName(String name) {
    delete(VolumeId.fromName(name).value());
  }

  long expand(String id, Path path, long bytes) {
    return driver
        .node()
        .nodeExpandVolume(
            NodeExpandVolumeRequest.newBuilder()
                .setVolumeId(id)
                .setVolumePath(path.toString())
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                .build())
        .getCapacityBytes();
  }

  Snapshot snapshot(String name, String volumeId) {
    return driver
        .controller()
        .createSnapshot(
            CreateSnapshotRequest.newBuilder().setName(name).setSourceVolumeId(volumeId).build())
        .getSnapshot();
  }

  void deleteSnapshot(String id) {
    driver
        .controller()
        .deleteSnapshot(DeleteSnapshotRequest.newBuilder().setSnapshotId(id).build());
  }

  void stage(Volume volume, Path staging, VolumeCapability capability) {
    driver
        .node()
        .nodeStageVolume(
            NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging.toString())
                .setVolumeCapability(capability)
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build());
  }

  void unstage(String id, Path staging) {
    driver
        .node()
        .nodeUnstageVolume(
            NodeUnstageVolumeRequest.newBuilder()
                .setVolumeId(id)
                .setStagingTargetPath(staging.toString())
                .build());
  }

  static NodePublishVolumeRequest.Builder publication(
      Volume volume, Path staging, Path target, VolumeCapability capability) {
    return NodePublishVolumeRequest.newBuilder()
        .setVolumeId(volume.getVolumeId())
        .setStagingTargetPath(staging.toString())
        .setTargetPath(target.toString())
        .setVolumeCapability(capability)
        .putAllVolumeContext(volume.getVolumeContextMap());
  }

  void publish(Volume volume, Path staging, Path target, VolumeCapability capability) {
    publish(publication(volume, staging, target, capability));
  }

  void publish(NodePublishVolumeRequest.Builder request) {
    driver.node().nodePublishVolume(request.build());
  }

  static NodePublishVolumeRequest.Builder ephemeral(
      String handle, Path target, VolumeCapability capability, Map<String, String> parameters) {
    return NodePublishVolumeRequest.newBuilder()
        .setVolumeId(handle)
        .setTargetPath(target.toString())
        .setVolumeCapability(capability)
        .putVolumeContext("csi.storage.k8s.io/ephemeral", "true")
        .putAllVolumeContext(parameters);
  }

  void unpublish(String id, Path target) {
    driver
        .node()
        .nodeUnpublishVolume(
            NodeUnpublishVolumeRequest.newBuilder()
                .setVolumeId(id)
                .setTargetPath(target.toString())
                .build());
  }
}
