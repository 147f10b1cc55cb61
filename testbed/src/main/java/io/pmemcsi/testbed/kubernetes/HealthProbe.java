package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Asks servers on loopback whether they are ready. */
final class HealthProbe implements AutoCloseable {

  private static final int OK = 200;

  private final HttpClient client;

  HealthProbe(X509Certificate authority) {
    try {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      trusted.setCertificateEntry("authority", authority);
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      this.client = HttpClient.newBuilder().sslContext(context).build();
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("cannot set up TLS", e);
    }
  }

  /** Whether the server answers with 200; not listening yet is no. */
  boolean isOk(String address) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofSeconds(5)).build();
    try {
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == OK;
    } catch (IOException _) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while asking " + address, e);
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
    client.close();
  }
}
