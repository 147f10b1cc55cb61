package io.pmemcsi.demo;

import csi.v1.ControllerGrpc;
import csi.v1.ControllerGrpc.ControllerBlockingStub;
import csi.v1.IdentityGrpc;
import csi.v1.IdentityGrpc.IdentityBlockingStub;
import csi.v1.NodeGrpc;
import csi.v1.NodeGrpc.NodeBlockingStub;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Calls a driver on its Unix socket, as kubelet and the provisioner do. */
final class CsiClient implements AutoCloseable {

  private static final long DEADLINE_SECONDS = 60;

  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(
          1, Thread.ofPlatform().daemon().factory(), EpollIoHandler.newFactory());
  private final ManagedChannel channel;

  CsiClient(Path socket) {
    channel =
        NettyChannelBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
            .eventLoopGroup(loop)
            .channelType(EpollDomainSocketChannel.class)
            .usePlaintext()
            .overrideAuthority("localhost")
            .build();
  }

  IdentityBlockingStub identity() {
    return IdentityGrpc.newBlockingStub(channel)
        .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  ControllerBlockingStub controller() {
    return ControllerGrpc.newBlockingStub(channel)
        .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  NodeBlockingStub node() {
    return NodeGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    loop.shutdownGracefully(0, 0, TimeUnit.SECONDS).awaitUninterruptibly(1, TimeUnit.SECONDS);
  }
}
