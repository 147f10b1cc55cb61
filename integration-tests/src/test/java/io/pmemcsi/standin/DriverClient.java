package io.pmemcsi.standin;

import csi.v1.ControllerGrpc;
import csi.v1.ControllerGrpc.ControllerBlockingStub;
import csi.v1.GetPluginInfoRequest;
import csi.v1.IdentityGrpc;
import csi.v1.NodeGetInfoRequest;
import csi.v1.NodeGetInfoResponse;
import csi.v1.NodeGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.io.File;
import java.util.concurrent.TimeUnit;

/** Calls the driver in the same pod; waits for it when it does not listen yet. */
final class DriverClient {

  private final ManagedChannel channel;

  DriverClient(String socket) {
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

  ControllerBlockingStub controller() {
    return ControllerGrpc.newBlockingStub(channel)
        .withWaitForReady()
        .withDeadlineAfter(1, TimeUnit.MINUTES);
  }
}
