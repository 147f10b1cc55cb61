package io.pmemcsi.driver.registry.tls;

import io.pmemcsi.base.tls.PeerNames;
import io.pmemcsi.base.tls.PeerRole;
import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/** Accepts peers whose certificate is from the CA and carries the name of their side. */
final class PeerTrustManager extends X509ExtendedTrustManager {

  private final Credentials credentials;
  private final PeerRole expected;

  PeerTrustManager(Credentials credentials, PeerRole expected) {
    this.credentials = credentials;
    this.expected = expected;
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    credentials.latest().trust().checkClientTrusted(chain, authType, engine);
    checkName(chain[0]);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    credentials.latest().trust().checkServerTrusted(chain, authType, engine);
    checkName(chain[0]);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    credentials.latest().trust().checkClientTrusted(chain, authType, socket);
    checkName(chain[0]);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    credentials.latest().trust().checkServerTrusted(chain, authType, socket);
    checkName(chain[0]);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    credentials.latest().trust().checkClientTrusted(chain, authType);
    checkName(chain[0]);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    credentials.latest().trust().checkServerTrusted(chain, authType);
    checkName(chain[0]);
  }

  /**
   * Empty: clients send the certificate that they have, and the log has the reason of a refusal.
   */
  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }

  private void checkName(X509Certificate certificate) throws CertificateException {
    List<String> names = PeerNames.of(certificate);
    if (!names.contains(expected.certificateName())) {
      throw new CertificateException(
          "the peer's certificate is for %s instead of %s"
              .formatted(String.join(", ", names), expected.certificateName()));
    }
  }
}
