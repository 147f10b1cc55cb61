package io.pmemcsi.bench.driver;

import static java.util.concurrent.TimeUnit.SECONDS;

import csi.v1.CapacityRange;
import csi.v1.ControllerGrpc;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGrpc;
import csi.v1.NodePublishVolumeRequest;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.NodeUnpublishVolumeRequest;
import csi.v1.NodeUnstageVolumeRequest;
import csi.v1.ProbeRequest;
import csi.v1.ProbeResponse;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;

/** The calls of kubelet and provisioner that are measured. */
final class CsiClient implements AutoCloseable {

  private static final int CALL_SECONDS = 120;
  private static final EventLoopGroup LOOP =
      new MultiThreadIoEventLoopGroup(
          1, Thread.ofPlatform().daemon().factory(), EpollIoHandler.newFactory());

  private final ManagedChannel channel;

  private CsiClient(ManagedChannel channel) {
    this.channel = channel;
  }

  static CsiClient onSocket(Path socket) {
    return new CsiClient(
        NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
            .eventLoopGroup(LOOP)
            .channelType(EpollDomainSocketChannel.class)
            .usePlaintext()
            .overrideAuthority("localhost")
            .build());
  }

  static CsiClient onPort(int port) {
    return new CsiClient(NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build());
  }

  /** Whether the driver answers already. */
  boolean answers() {
    try {
      return !IdentityGrpc.newBlockingStub(channel)
          .withDeadlineAfter(20, SECONDS)
          .getPluginInfo(GetPluginInfoRequest.getDefaultInstance())
          .getName()
          .isEmpty();
    } catch (StatusRuntimeException e) {
      channel.resetConnectBackoff(); // the pauses would grow while the driver starts
      return false;
    }
  }

  void probe() {
    ProbeResponse response =
        IdentityGrpc.newBlockingStub(channel)
            .withDeadlineAfter(CALL_SECONDS, SECONDS)
            .probe(ProbeRequest.getDefaultInstance());
    // a driver that says nothing about it is ready
    if (response.hasReady() && !response.getReady().getValue()) {
      throw new IllegalStateException("the driver is not ready");
    }
  }

  ControllerGrpc.ControllerBlockingStub controller() {
    return ControllerGrpc.newBlockingStub(channel).withDeadlineAfter(CALL_SECONDS, SECONDS);
  }

  private NodeGrpc.NodeBlockingStub node() {
    return NodeGrpc.newBlockingStub(channel).withDeadlineAfter(CALL_SECONDS, SECONDS);
  }

  Volume create(String name, long bytes) {
    return controller()
        .createVolume(
            CreateVolumeRequest.newBuilder()
                .setName(name)
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                .addVolumeCapabilities(ext4())
                .build())
        .getVolume();
  }

  void stage(Volume volume, String staging) {
    node()
        .nodeStageVolume(
            NodeStageVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging)
                .setVolumeCapability(ext4())
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build());
  }

  void publish(Volume volume, String staging, String target) {
    node()
        .nodePublishVolume(
            NodePublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging)
                .setTargetPath(target)
                .setVolumeCapability(ext4())
                .putAllVolumeContext(volume.getVolumeContextMap())
                .build());
  }

  void expand(Volume volume, String path, long bytes) {
    node()
        .nodeExpandVolume(
            NodeExpandVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(path)
                .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
                .build());
  }

  void unpublish(Volume volume, String target) {
    node()
        .nodeUnpublishVolume(
            NodeUnpublishVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setTargetPath(target)
                .build());
  }

  void unstage(Volume volume, String staging) {
    node()
        .nodeUnstageVolume(
            NodeUnstageVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setStagingTargetPath(staging)
                .build());
  }

  void delete(Volume volume) {
    controller()
        .deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(volume.getVolumeId()).build());
  }

  private static VolumeCapability ext4() {
    return VolumeCapability.newBuilder()
        .setMount(VolumeCapability.MountVolume.newBuilder().setFsType("ext4"))
        .setAccessMode(
            VolumeCapability.AccessMode.newBuilder()
                .setMode(VolumeCapability.AccessMode.Mode.SINGLE_NODE_WRITER))
        .build();
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
