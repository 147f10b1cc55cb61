package io.pmemcsi.driver.registry.tls;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import io.pmemcsi.base.tls.PeerRole;
import io.pmemcsi.base.tls.TlsProfile;
import java.time.Duration;
import javax.net.ssl.SSLException;

/** TLS where both sides show a certificate and check whose the other one is. */
public final class MutualTls {

  /** A resumed session skips the check of the certificate, so sessions do not live long. */
  private static final Duration SESSION = Duration.ofSeconds(60);

  private MutualTls() {}

  /** For a server with clients of one side only. */
  public static SslContext server(TlsFiles files, PeerRole clients) {
    Credentials credentials = Credentials.open(files);
    return build(
        SslContextBuilder.forServer(new OwnKeyManager(credentials))
            .trustManager(new PeerTrustManager(credentials, clients))
            .clientAuth(ClientAuth.REQUIRE));
  }

  /** For a client of servers of one side; the channel's authority must be that side's name. */
  public static SslContext client(TlsFiles files, PeerRole servers) {
    Credentials credentials = Credentials.open(files);
    return build(
        SslContextBuilder.forClient()
            .keyManager(new OwnKeyManager(credentials))
            .trustManager(new PeerTrustManager(credentials, servers)));
  }

  private static SslContext build(SslContextBuilder builder) {
    try {
      // the JDK's implementation: it asks our managers at each handshake and needs no native code
      return GrpcSslContexts.configure(builder, SslProvider.JDK)
          .protocols(TlsProfile.PROTOCOLS)
          .ciphers(TlsProfile.SUITES)
          .sessionTimeout(SESSION.toSeconds())
          .build();
    } catch (SSLException e) {
      throw new IllegalStateException("the JDK lacks TLS 1.2, or a required cipher suite", e);
    }
  }
}
