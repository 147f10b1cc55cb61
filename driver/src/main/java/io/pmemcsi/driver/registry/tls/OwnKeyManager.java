package io.pmemcsi.driver.registry.tls;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** Presents the own certificate, the one that is in the files at the time of the handshake. */
final class OwnKeyManager extends X509ExtendedKeyManager {

  private final Credentials credentials;

  OwnKeyManager(Credentials credentials) {
    this.credentials = credentials;
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
    Credentials.Generation latest = credentials.latest();
    return keyType.startsWith(latest.own().key().getAlgorithm()) ? latest.alias() : null;
  }

  @Override
  public @Nullable String chooseEngineClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, SSLEngine engine) {
    return chooseClientAlias(keyTypes, issuers, null);
  }

  /** Whatever issuers the server names: a server that refuses the certificate logs why. */
  @Override
  public @Nullable String chooseClientAlias(
      String[] keyTypes, Principal @Nullable [] issuers, @Nullable Socket socket) {
    return Arrays.stream(keyTypes)
        .filter(type -> chooseServerAlias(type, issuers, socket) != null)
        .findFirst()
        .map(_ -> credentials.latest().alias())
        .orElse(null);
  }

  @Override
  public X509Certificate[] getCertificateChain(String alias) {
    return credentials.byAlias(alias).own().chain().toArray(X509Certificate[]::new);
  }

  @Override
  public PrivateKey getPrivateKey(String alias) {
    return credentials.byAlias(alias).own().key();
  }

  @Override
  public String[] getServerAliases(String keyType, Principal @Nullable [] issuers) {
    return new String[] {credentials.latest().alias()};
  }

  @Override
  public String[] getClientAliases(String keyType, Principal @Nullable [] issuers) {
    return getServerAliases(keyType, issuers);
  }
}
