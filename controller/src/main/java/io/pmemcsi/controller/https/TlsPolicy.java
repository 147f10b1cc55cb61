package io.pmemcsi.controller.https;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import io.pmemcsi.base.tls.TlsProfile;
import java.security.GeneralSecurityException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;

/** Applies {@link TlsProfile} to every connection of the server. */
final class TlsPolicy extends HttpsConfigurator {

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
    tls.setProtocols(TlsProfile.PROTOCOLS.toArray(String[]::new));
    tls.setCipherSuites(TlsProfile.SUITES.toArray(String[]::new));
    tls.setUseCipherSuitesOrder(true);
    parameters.setSSLParameters(tls);
  }
}
