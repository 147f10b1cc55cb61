package io.pmemcsi.driver.guest;

import csi.v1.CapacityRange;
import csi.v1.ControllerGrpc;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import csi.v1.ListVolumesRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGrpc;
import csi.v1.Volume;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.DriverSettings;
import io.pmemcsi.driver.NodeDriver;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.volume.DeviceMode;
import java.nio.file.Path;
import java.util.Optional;

/** Runs on the host: does what the driver does in the guest, as far as files allow it. */
final class TrainingMain {
  private TrainingMain() {}

  /** Wants an empty folder. */
  public static void main(String[] args) {
    Path folder = Path.of(args[0]);
    Path socket = folder.resolve("csi.sock");
    DriverSettings settings =
        new DriverSettings(
            new DriverName("pmem-csi.intel.com"),
            "host",
            new Endpoint(socket),
            folder.resolve("state"),
            DeviceMode.FILE,
            50,
            Optional.empty(),
            "/metrics");
    try (NodeDriver _ = NodeDriver.start(settings)) {
      rehearse(connect(socket));
    }
    System.exit(0);
  }

  private static ManagedChannel connect(Path socket) {
    EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    return NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
        .eventLoopGroup(loop)
        .channelType(EpollDomainSocketChannel.class)
        .usePlaintext()
        .overrideAuthority("localhost")
        .build();
  }

  private static void rehearse(ManagedChannel channel) {
    var controller = ControllerGrpc.newBlockingStub(channel);
    IdentityGrpc.newBlockingStub(channel).getPluginInfo(GetPluginInfoRequest.getDefaultInstance());
    NodeGrpc.newBlockingStub(channel).nodeGetInfo(NodeGetInfoRequest.getDefaultInstance());
    controller.getCapacity(GetCapacityRequest.getDefaultInstance());
    Volume volume =
        controller
            .createVolume(
                CreateVolumeRequest.newBuilder()
                    .setName("training")
                    .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(32L << 20))
                    .addVolumeCapabilities(GuestDriver.mount("ext4"))
                    .build())
            .getVolume();
    controller.listVolumes(ListVolumesRequest.getDefaultInstance());
    controller.deleteVolume(
        DeleteVolumeRequest.newBuilder().setVolumeId(volume.getVolumeId()).build());
  }
}
