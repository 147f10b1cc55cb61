package io.pmemcsi.operator.certs;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** A real TLS connection from a client that trusts a bundle to a server with a certificate. */
public final class TlsCall {

  private static final char[] NO_PASSWORD = {};

  private TlsCall() {}

  /**
   * Connects once.
   *
   * @param bundle the certificates that the client trusts
   * @param name by which the client knows the server
   * @param now the time on the client's clock
   * @return why it failed, if it did
   */
  public static Optional<String> failure(String bundle, TlsFiles server, String name, Instant now) {
    try (var listening =
        (SSLServerSocket)
            serving(server)
                .getServerSocketFactory()
                .createServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread.ofVirtual().start(() -> serve(listening));
      try (var plain = new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort());
          var socket =
              (SSLSocket)
                  trusting(bundle, now)
                      .getSocketFactory()
                      .createSocket(plain, name, listening.getLocalPort(), true)) {
        var parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return Optional.empty();
      }
    } catch (IOException | GeneralSecurityException e) {
      return Optional.of("at %s: %s".formatted(now, e));
    }
  }

  private static void serve(SSLServerSocket listening) {
    try (var socket = (SSLSocket) listening.accept()) {
      socket.startHandshake();
    } catch (IOException _) {
      // the client reports the failure
    }
  }

  private static SSLContext serving(TlsFiles files) throws GeneralSecurityException, IOException {
    var store = KeyStore.getInstance("PKCS12");
    store.load(null, NO_PASSWORD);
    store.setKeyEntry(
        "server",
        Pem.key("the server's key", files.key()),
        NO_PASSWORD,
        Pem.certificates("the server's certificate", files.certificate())
            .toArray(X509Certificate[]::new));
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, NO_PASSWORD);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    return context;
  }

  private static SSLContext trusting(String bundle, Instant now) throws GeneralSecurityException {
    var parameters =
        new PKIXBuilderParameters(
            Pem.certificates("the bundle", bundle).stream()
                .map(certificate -> new TrustAnchor(certificate, null))
                .collect(Collectors.toSet()),
            new X509CertSelector());
    parameters.setRevocationEnabled(false);
    parameters.setDate(Date.from(now));
    var trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(new CertPathTrustManagerParameters(parameters));
    var context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
