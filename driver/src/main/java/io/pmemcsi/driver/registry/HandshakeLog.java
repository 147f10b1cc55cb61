package io.pmemcsi.driver.registry;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandlerContext;
import io.grpc.netty.shaded.io.netty.channel.ChannelInboundHandlerAdapter;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioServerSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.ssl.NotSslRecordException;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslHandler;
import io.pmemcsi.base.error.Reason;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs the connections that a TLS server refuses; gRPC itself does so for debugging only. */
final class HandshakeLog extends ChannelInboundHandlerAdapter {

  private static final Logger LOG = LoggerFactory.getLogger(HandshakeLog.class);

  private boolean watched;

  /** A server socket whose connections are logged when their handshake fails. */
  static final class ServerChannel extends NioServerSocketChannel {
    @Override
    protected int doReadMessages(List<Object> accepted) throws Exception {
      int before = accepted.size();
      int count = super.doReadMessages(accepted);
      accepted
          .subList(before, accepted.size())
          .forEach(child -> ((Channel) child).pipeline().addFirst(new HandshakeLog()));
      return count;
    }
  }

  /** gRPC adds its TLS handler before the first bytes arrive. */
  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    if (!watched && tls != null) {
      watched = true;
      var _ =
          tls.handshakeFuture()
              .addListener(
                  handshake -> {
                    if (!handshake.isSuccess()) {
                      LOG.atWarn()
                          .addKeyValue("peer", context.channel().remoteAddress())
                          .addKeyValue("server", context.channel().localAddress())
                          .addKeyValue("cause", cause(handshake.cause()))
                          .log("Connection refused: TLS handshake failed.");
                    }
                  });
    }
    context.fireChannelRead(message);
  }

  /** Netty would print all that the peer has sent. */
  private static String cause(Throwable failure) {
    return failure instanceof NotSslRecordException
        ? "the peer does not use TLS"
        : Reason.of(failure);
  }
}
