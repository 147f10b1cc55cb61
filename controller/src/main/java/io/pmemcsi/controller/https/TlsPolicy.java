package io.pmemcsi.controller.https;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import java.security.GeneralSecurityException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/** TLS 1.2 and newer, with forward secrecy and authenticated encryption only. */
final class TlsPolicy extends HttpsConfigurator {

  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
  private static final String[] SUITES = {
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
  };

  private TlsPolicy(SSLContext context) {
    super(context);
  }

  static TlsPolicy of(KeyManager keys) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[] {keys}, null, null);
      return new TlsPolicy(context);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no TLS", e);
    }
  }

  @Override
  public void configure(HttpsParameters parameters) {
    SSLParameters tls = getSSLContext().getDefaultSSLParameters();
    tls.setProtocols(PROTOCOLS);
    tls.setCipherSuites(SUITES);
    tls.setUseCipherSuitesOrder(true);
    parameters.setSSLParameters(tls);
  }
}
