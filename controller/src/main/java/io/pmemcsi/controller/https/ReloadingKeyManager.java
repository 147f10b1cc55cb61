package io.pmemcsi.controller.https;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.tls.CertificateAndKey;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the certificate in two files and follows their changes: new connections get the new one,
 * connections that exist are not touched. The files are compared by content, because Kubernetes
 * replaces a mounted secret by swapping a symbolic link, which no watch on a file shows.
 */
final class ReloadingKeyManager extends X509ExtendedKeyManager implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ReloadingKeyManager.class);

  private final Path certificateFile;
  private final Path keyFile;
  private final Thread reloads;
  private volatile Served current;
  private volatile Served previous;
  private String lastFailure = "";

  /**
   * A certificate and its key under an alias of their own: a handshake asks for the alias first and
   * for the two later, when the files may have changed.
   */
  private record Served(int number, CertificateAndKey pair) {

    String alias() {
      return "server-" + number;
    }
  }

  private ReloadingKeyManager(
      Path certificateFile, Path keyFile, CertificateAndKey first, Duration period) {
    this.certificateFile = certificateFile;
    this.keyFile = keyFile;
    this.current = new Served(0, first);
    this.previous = current;
    this.reloads =
        Thread.ofVirtual()
            .name("certificates")
            .start(
                () -> {
                  try {
                    while (true) {
                      Thread.sleep(period);
                      reload();
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
  }

  /** Reads the files and begins to follow them; fails if they cannot be used. */
  static ReloadingKeyManager start(Path certificateFile, Path keyFile, Duration period) {
    try {
      return new ReloadingKeyManager(
          certificateFile, keyFile, CertificateAndKey.read(certificateFile, keyFile), period);
    } catch (IOException e) {
      throw new FatalException(
          "%s: correct -certFile and -keyFile or the secret behind them".formatted(e.getMessage()),
          e);
    }
  }

  /** The certificate that new connections get. */
  X509Certificate certificate() {
    return current.pair().chain().getFirst();
  }

  Instant expires() {
    return certificate().getNotAfter().toInstant();
  }

  /** Keeps the previous certificate if the new files are broken or half written. */
  void reload() {
    try {
      CertificateAndKey next = CertificateAndKey.read(certificateFile, keyFile);
      lastFailure = "";
      if (!next.chain().equals(current.pair().chain())) {
        previous = current;
        current = new Served(previous.number() + 1, next);
        LOG.atInfo().addKeyValue("expires", expires()).log("Certificate reloaded.");
      }
    } catch (IOException e) {
      String failure = String.valueOf(e.getMessage());
      if (!failure.equals(lastFailure)) {
        LOG.atWarn()
            .addKeyValue("cause", failure)
            .addKeyValue("expires", expires())
            .log("Certificate was not reloaded: the previous one stays in use.");
      }
      lastFailure = failure;
    }
  }

  @Override
  public void close() {
    reloads.interrupt();
  }

  @Override
  public @Nullable String chooseEngineServerAlias(
      String keyType, Principal @Nullable [] issuers, SSLEngine engine) {
    return chooseServerAlias(keyType, issuers, null);
  }

  /** TLS 1.3 asks with EC, TLS 1.2 with EC, RSA and others in turn. */
  @Override
  public @Nullable String chooseServerAlias(
      String keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    Served now = current;
    return keyType.startsWith(now.pair().key().getAlgorithm()) ? now.alias() : null;
  }

  @Override
  public X509Certificate[] getCertificateChain(String alias) {
    return served(alias).chain().toArray(X509Certificate[]::new);
  }

  @Override
  public PrivateKey getPrivateKey(String alias) {
    return served(alias).key();
  }

  @Override
  public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    return new String[] {current.alias()};
  }

  private CertificateAndKey served(String alias) {
    Served now = current;
    return (now.alias().equals(alias) ? now : previous).pair();
  }

  @Override
  public String @Nullable [] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return null;
  }

  @Override
  public @Nullable String chooseClientAlias(
      String[] keyType, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return null;
  }
}
