package io.pmemcsi.driver.csi;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.Timeouts;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** The gRPC server on the Unix socket where kubelet and the sidecars expect the driver. */
public final class CsiServer implements AutoCloseable {

  /** Larger than the limit of the calls, so that a client gets the reason for a refused message. */
  private static final int MAX_TRANSPORT = 2 * CallInterceptor.MAX_MESSAGE;

  private final Path socket;
  private final Server server;
  private final EventLoopGroup loop;
  private final ExecutorService calls;

  private CsiServer(Path socket, Server server, EventLoopGroup loop, ExecutorService calls) {
    this.socket = socket;
    this.server = server;
    this.loop = loop;
    this.calls = calls;
  }

  /** Listens at once; fails with a line for the user when the socket cannot be had. */
  public static CsiServer start(
      Endpoint endpoint,
      String nodeId,
      CallInterceptor.CallRecorder recorder,
      List<BindableService> services) {
    Path socket = endpoint.socket();
    removeStale(socket);
    EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
    ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new DomainSocketAddress(socket.toFile()))
            .channelType(EpollServerDomainSocketChannel.class)
            .bossEventLoopGroup(loop)
            .workerEventLoopGroup(loop)
            .directExecutor()
            .callExecutor(new CallExecutors(calls))
            .maxInboundMessageSize(MAX_TRANSPORT)
            .intercept(new CallInterceptor(nodeId, recorder));
    services.forEach(service -> builder.addService(CallInterceptor.bind(service)));
    Server server = builder.build();
    try {
      server.start();
    } catch (IOException e) {
      var _ = loop.shutdownGracefully(0, Timeouts.SERVER_THREADS.toMillis(), TimeUnit.MILLISECONDS);
      calls.shutdownNow();
      throw new FatalException(
          "cannot listen on %s: %s; correct -endpoint, or create the directory of the socket"
              .formatted(endpoint, Reason.of(e)),
          e);
    }
    return new CsiServer(socket, server, loop, calls);
  }

  /** Waits up to {@code timeout} for in-flight calls. */
  public void stop(Duration timeout) {
    server.shutdown();
    try {
      if (!server.awaitTermination(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        server.shutdownNow();
        server.awaitTermination(Timeouts.CANCELLED_CALLS.toMillis(), TimeUnit.MILLISECONDS);
      }
      Files.deleteIfExists(socket);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      server.shutdownNow();
    } catch (IOException e) {
      // the next start removes it
    }
    var _ = loop.shutdownGracefully(0, Timeouts.SERVER_THREADS.toMillis(), TimeUnit.MILLISECONDS);
    calls.shutdown();
  }

  @Override
  public void close() {
    stop(Timeouts.SHUTDOWN);
  }

  /** A crashed driver leaves its socket behind; that of a running one must not be removed. */
  private static void removeStale(Path socket) {
    if (!Files.exists(socket)) {
      return;
    }
    if (Files.isRegularFile(socket) || Files.isDirectory(socket)) {
      throw new FatalException(
          "endpoint %s is not a socket: it is not removed, choose another one".formatted(socket));
    }
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      delete(socket);
      return;
    }
    throw new FatalException("another process listens on endpoint %s already".formatted(socket));
  }

  private static void delete(Path socket) {
    try {
      Files.deleteIfExists(socket);
    } catch (IOException e) {
      throw new FatalException(
          "cannot remove the old socket %s: %s; remove it by hand".formatted(socket, Reason.of(e)),
          e);
    }
  }
}
