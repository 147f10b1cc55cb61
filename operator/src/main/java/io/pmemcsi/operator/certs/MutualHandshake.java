package io.pmemcsi.operator.certs;

import io.pmemcsi.base.tls.TlsProfile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.PKIXBuilderParameters;
import java.security.cert.X509CertSelector;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.Optional;
import javax.net.ssl.CertPathTrustManagerParameters;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;

/** A TLS handshake in memory in which both sides show a certificate. */
final class MutualHandshake {

  private static final char[] NO_PASSWORD = {};
  private static final int MAX_STEPS = 100;

  private MutualHandshake() {}

  /** Why the two cannot talk to each other; empty if they can. */
  static Optional<String> problem(TlsFiles client, TlsFiles server, Instant now) {
    try {
      SSLEngine clientEngine = engine(client, now, true);
      SSLEngine serverEngine = engine(server, now, false);
      shakeHands(clientEngine, serverEngine);
      return Optional.empty();
    } catch (SSLException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    } catch (GeneralSecurityException | IOException e) {
      return Optional.of("the certificates cannot be used: " + e.getMessage());
    }
  }

  private static SSLEngine engine(TlsFiles files, Instant now, boolean isClient)
      throws GeneralSecurityException, IOException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        keys(files).getKeyManagers(), trust(files, now).getTrustManagers(), /* random= */ null);
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(isClient);
    engine.setNeedClientAuth(!isClient);
    engine.setEnabledProtocols(TlsProfile.PROTOCOLS.toArray(String[]::new));
    engine.setEnabledCipherSuites(TlsProfile.SUITES.toArray(String[]::new));
    engine.beginHandshake();
    return engine;
  }

  private static KeyManagerFactory keys(TlsFiles files)
      throws GeneralSecurityException, IOException {
    KeyStore store = emptyStore();
    store.setKeyEntry(
        "own",
        Pem.key("the key", files.key()),
        NO_PASSWORD,
        Pem.certificates("the certificate", files.certificate()).toArray(Certificate[]::new));
    var factory = KeyManagerFactory.getInstance("PKIX");
    factory.init(store, NO_PASSWORD);
    return factory;
  }

  private static TrustManagerFactory trust(TlsFiles files, Instant now)
      throws GeneralSecurityException, IOException {
    KeyStore store = emptyStore();
    int number = 0;
    for (X509Certificate authority : Pem.certificates("the CA certificate", files.authority())) {
      store.setCertificateEntry(Integer.toString(number), authority);
      number++;
    }
    var parameters = new PKIXBuilderParameters(store, new X509CertSelector());
    parameters.setRevocationEnabled(false);
    parameters.setDate(Date.from(now));
    var factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(new CertPathTrustManagerParameters(parameters));
    return factory;
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    return store;
  }

  private static void shakeHands(SSLEngine client, SSLEngine server) throws SSLException {
    ByteBuffer toServer = ByteBuffer.allocate(client.getSession().getPacketBufferSize() * 4);
    ByteBuffer toClient = ByteBuffer.allocate(server.getSession().getPacketBufferSize() * 4);
    for (int step = 0; step < MAX_STEPS; step++) {
      advance(client, toClient, toServer);
      advance(server, toServer, toClient);
      if (isDone(client)
          && isDone(server)
          && toServer.position() == 0
          && toClient.position() == 0) {
        return;
      }
    }
    throw new SSLException("the handshake does not end");
  }

  private static boolean isDone(SSLEngine engine) {
    return engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING;
  }

  /** One step of one side, or reading what comes after its part of the handshake. */
  private static void advance(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws SSLException {
    switch (engine.getHandshakeStatus()) {
      case NEED_TASK -> {
        for (Runnable task = engine.getDelegatedTask();
            task != null;
            task = engine.getDelegatedTask()) {
          task.run();
        }
      }
      case NEED_WRAP -> {
        var _ = engine.wrap(ByteBuffer.allocate(0), out);
      }
      case NEED_UNWRAP, NEED_UNWRAP_AGAIN, NOT_HANDSHAKING -> {
        in.flip();
        if (in.hasRemaining()) {
          var _ =
              engine.unwrap(
                  in, ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()));
        }
        in.compact();
      }
      // only results have this status
      case FINISHED -> {}
    }
  }
}
