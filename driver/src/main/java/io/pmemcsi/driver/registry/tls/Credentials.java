package io.pmemcsi.driver.registry.tls;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.tls.CertificateAndKey;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of the TLS files, compared with the files at each handshake. Handshakes are rare, so
 * that needs no thread, and a rotated certificate is used by the very next connection. Connections
 * that exist are not touched.
 */
final class Credentials {

  private static final Logger LOG = LoggerFactory.getLogger(Credentials.class);

  private final TlsFiles files;
  private volatile Generation current;
  private volatile Generation previous;
  private String lastFailure = "";

  /** What the files held at one time. */
  record Generation(
      String alias, List<byte[]> content, CertificateAndKey own, X509ExtendedTrustManager trust) {}

  private Credentials(TlsFiles files, Generation first) {
    this.files = files;
    this.current = first;
    this.previous = first;
  }

  /** Reads the files; fails with a line for the user if they cannot be used. */
  static Credentials open(TlsFiles files) {
    try {
      return new Credentials(files, read(files, 0));
    } catch (IOException e) {
      throw new FatalException(
          "%s; correct -caFile, -certFile and -keyFile or the secret behind them"
              .formatted(e.getMessage()),
          e);
    }
  }

  /** What new connections use. Broken or half-written files do not replace what works. */
  synchronized Generation latest() {
    try {
      if (isChanged()) {
        Generation next = read(files, Integer.parseInt(current.alias()) + 1);
        previous = current;
        current = next;
        LOG.atInfo()
            .addKeyValue("file", files.certificate())
            .addKeyValue("expires", expiry(next))
            .log("TLS certificate reloaded.");
      }
      lastFailure = "";
    } catch (IOException e) {
      String failure = String.valueOf(e.getMessage());
      if (!failure.equals(lastFailure)) {
        LOG.atWarn()
            .addKeyValue("cause", failure)
            .addKeyValue("expires", expiry(current))
            .log("TLS certificate was not reloaded: the previous one stays in use.");
      }
      lastFailure = failure;
    }
    return current;
  }

  /** A handshake ends with the certificate that it began with. */
  Generation byAlias(String alias) {
    Generation older = previous;
    return older.alias().equals(alias) ? older : current;
  }

  private boolean isChanged() throws IOException {
    List<byte[]> now = content(files);
    for (int i = 0; i < now.size(); i++) {
      if (!Arrays.equals(now.get(i), current.content().get(i))) {
        return true;
      }
    }
    return false;
  }

  private static Generation read(TlsFiles files, int number) throws IOException {
    List<byte[]> content = content(files);
    return new Generation(
        Integer.toString(number),
        content,
        CertificateAndKey.read(files.certificate(), files.key()),
        trust(files.ca()));
  }

  private static List<byte[]> content(TlsFiles files) throws IOException {
    return List.of(
        CertificateAndKey.content(files.ca()),
        CertificateAndKey.content(files.certificate()),
        CertificateAndKey.content(files.key()));
  }

  private static X509ExtendedTrustManager trust(Path ca) throws IOException {
    try {
      KeyStore authorities = KeyStore.getInstance(KeyStore.getDefaultType());
      authorities.load(null, null);
      int number = 0;
      for (X509Certificate each : CertificateAndKey.certificates(ca)) {
        authorities.setCertificateEntry(Integer.toString(number), each);
        number++;
      }
      TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
      factory.init(authorities);
      return (X509ExtendedTrustManager) factory.getTrustManagers()[0];
    } catch (GeneralSecurityException e) {
      throw new IOException("%s has no usable CA certificate".formatted(ca), e);
    }
  }

  private static Instant expiry(Generation generation) {
    return generation.own().chain().getFirst().getNotAfter().toInstant();
  }
}
