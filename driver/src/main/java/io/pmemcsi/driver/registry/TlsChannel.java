package io.pmemcsi.driver.registry;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.ChannelOption;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.driver.linux.Timeouts;
import java.util.concurrent.TimeUnit;

/** Client connections over mutual TLS. */
final class TlsChannel {

  private TlsChannel() {}

  /** A channel that connects when it is first used. */
  static ManagedChannel open(TcpEndpoint endpoint, PeerRole server, SslContext tls) {
    return NettyChannelBuilder.forAddress(endpoint.host(), endpoint.port())
        .sslContext(tls)
        .overrideAuthority(server.certificateName())
        .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) Timeouts.CONNECT.toMillis())
        .keepAliveTime(Timeouts.KEEP_ALIVE_INTERVAL.toMillis(), TimeUnit.MILLISECONDS)
        .keepAliveTimeout(Timeouts.KEEP_ALIVE.toMillis(), TimeUnit.MILLISECONDS)
        .keepAliveWithoutCalls(true)
        // an idle connection must stay: its loss is how a node notices a new controller
        .idleTimeout(365, TimeUnit.DAYS)
        .build();
  }
}
