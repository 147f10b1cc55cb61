package io.pmemcsi.standin;

import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGrpc;
import csi.v1.ControllerGrpc.ControllerBlockingStub;
import csi.v1.ControllerServiceCapability;
import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import csi.v1.NodeGetCapabilitiesRequest;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetInfoResponse;
import csi.v1.NodeGrpc;
import csi.v1.NodeServiceCapability;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.io.File;
import java.util.concurrent.TimeUnit;

/** Calls the driver in the same pod; waits for it when it does not listen yet. */
public final class DriverClient {

  private final ManagedChannel channel;

  public DriverClient(String socket) {
    this.channel =
        NettyChannelBuilder.forAddress(new DomainSocketAddress(new File(socket)))
            .eventLoopGroup(new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory()))
            .channelType(EpollDomainSocketChannel.class)
            .usePlaintext()
            .overrideAuthority("localhost")
            .build();
  }

  /** The driver's name. */
  String name() {
    return IdentityGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .getPluginInfo(GetPluginInfoRequest.getDefaultInstance())
        .getName();
  }

  NodeGetInfoResponse node() {
    return NodeGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .nodeGetInfo(NodeGetInfoRequest.getDefaultInstance());
  }

  boolean expandsOnController() {
    return controller()
        .controllerGetCapabilities(ControllerGetCapabilitiesRequest.getDefaultInstance())
        .getCapabilitiesList()
        .stream()
        .anyMatch(
            capability ->
                capability.getRpc().getType()
                    == ControllerServiceCapability.RPC.Type.EXPAND_VOLUME);
  }

  boolean expandsOnNode() {
    return NodeGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .nodeGetCapabilities(NodeGetCapabilitiesRequest.getDefaultInstance())
        .getCapabilitiesList()
        .stream()
        .anyMatch(
            capability ->
                capability.getRpc().getType() == NodeServiceCapability.RPC.Type.EXPAND_VOLUME);
  }

  public ControllerBlockingStub controller() {
    return ControllerGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .withDeadlineAfter(1, TimeUnit.MINUTES);
  }
}
