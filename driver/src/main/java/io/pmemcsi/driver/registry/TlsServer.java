package io.pmemcsi.driver.registry;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.csi.CallInterceptor;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.registry.tls.MutualTls;
import io.pmemcsi.driver.registry.tls.TlsFiles;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A gRPC server on a TCP port that speaks with clients of one side only, over mutual TLS. */
public final class TlsServer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TlsServer.class);

  private final TcpEndpoint endpoint;
  private final Server server;
  private final EventLoopGroup loop;
  private final ExecutorService calls;

  private TlsServer(
      TcpEndpoint endpoint, Server server, EventLoopGroup loop, ExecutorService calls) {
    this.endpoint = endpoint;
    this.server = server;
    this.loop = loop;
    this.calls = calls;
  }

  /** Listens at once; fails with a line for the user when the address cannot be used. */
  public static TlsServer start(
      String flag,
      TcpEndpoint endpoint,
      TlsFiles files,
      PeerRole clients,
      CallInterceptor interceptor,
      List<BindableService> services) {
    EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    boolean started = false;
    try {
      NettyServerBuilder builder =
          NettyServerBuilder.forAddress(endpoint.listenAddress())
              .channelFactory(HandshakeLog.ServerChannel::new)
              .bossEventLoopGroup(loop)
              .workerEventLoopGroup(loop)
              .executor(calls)
              .sslContext(MutualTls.server(files, clients))
              .handshakeTimeout(Timeouts.HANDSHAKE.toMillis(), TimeUnit.MILLISECONDS)
              .keepAliveTime(Timeouts.KEEP_ALIVE_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)
              .keepAliveTimeout(Timeouts.KEEP_ALIVE.toMillis(), TimeUnit.MILLISECONDS)
              .permitKeepAliveTime(Timeouts.KEEP_ALIVE_PERMITTED.toMillis(), TimeUnit.MILLISECONDS)
              .permitKeepAliveWithoutCalls(true)
              .intercept(interceptor);
      services.forEach(service -> builder.addService(CallInterceptor.bind(service)));
      Server server = builder.build().start();
      started = true;
      TlsServer running = new TlsServer(endpoint.withPort(server.getPort()), server, loop, calls);
      LOG.atInfo()
          .addKeyValue("endpoint", running.endpoint)
          .addKeyValue("clients", clients.certificateName())
          .log("TLS server started.");
      return running;
    } catch (IOException e) {
      throw new FatalException(
          "cannot listen on %s: %s; correct %s".formatted(endpoint, Reason.of(e), flag), e);
    } finally {
      if (!started) {
        var _ =
            loop.shutdownGracefully(0, Timeouts.SERVER_THREADS.toMillis(), TimeUnit.MILLISECONDS);
        calls.shutdownNow();
      }
    }
  }

  /** Where it listens, with the port in use. */
  public TcpEndpoint endpoint() {
    return endpoint;
  }

  /** Waits for in-flight calls. */
  @Override
  public void close() {
    stop(Timeouts.SHUTDOWN);
  }

  void stop(Duration timeout) {
    server.shutdown();
    try {
      if (!server.awaitTermination(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        server.shutdownNow();
        server.awaitTermination(Timeouts.CANCELLED_CALLS.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      server.shutdownNow();
    }
    var _ = loop.shutdownGracefully(0, Timeouts.SERVER_THREADS.toMillis(), TimeUnit.MILLISECONDS);
    calls.shutdown();
  }
}
