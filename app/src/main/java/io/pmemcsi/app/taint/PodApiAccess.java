package io.pmemcsi.app.taint;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.file.BoundedText;
import io.pmemcsi.base.tls.CertificateAndKey;
import io.pmemcsi.driver.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * The API server as a pod reaches it.
 *
 * @param server its address
 * @param account the directory with {@code token} and {@code ca.crt}, which kubelet replaces before
 *     they expire
 */
public record PodApiAccess(URI server, Path account) {
  private static final Path ACCOUNT = Path.of("/var/run/secrets/kubernetes.io/serviceaccount");
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int CONFLICT = 409;

  /** Larger than any object that the API server stores. */
  private static final int MAX_RESPONSE = 4 << 20;

  /** A JSON patch whose test failed. */
  private static final int INVALID = 422;

  /** That of this pod, from what kubelet gives each container. */
  public static PodApiAccess ofPod(UnaryOperator<String> variables) {
    String host = variables.apply("KUBERNETES_SERVICE_HOST");
    String port = variables.apply("KUBERNETES_SERVICE_PORT");
    if (host.isEmpty() || port.isEmpty()) {
      throw new UsageException(
          "-startupTaint=true works in a pod only: KUBERNETES_SERVICE_HOST or"
              + " KUBERNETES_SERVICE_PORT is not set");
    }
    return new PodApiAccess(
        URI.create("https://%s:%s".formatted(host.contains(":") ? "[" + host + "]" : host, port)),
        ACCOUNT);
  }

  Json get(String path) throws IOException {
    return Json.parse(send(request(path).GET()));
  }

  /** Sends a JSON patch; a node that has changed since it was read is a failure like others. */
  void patch(String path, String jsonPatch) throws IOException {
    send(
        request(path)
            .header("Content-Type", "application/json-patch+json")
            .method("PATCH", HttpRequest.BodyPublishers.ofString(jsonPatch)));
  }

  private HttpRequest.Builder request(String path) throws IOException {
    return HttpRequest.newBuilder(server.resolve(path))
        .timeout(TIMEOUT)
        .header("Accept", "application/json")
        .header("Authorization", "Bearer " + BoundedText.read(account.resolve("token")).strip());
  }

  /** With a client per request: one that stays would cost memory for as long as the driver runs. */
  private byte[] send(HttpRequest.Builder request) throws IOException {
    try (HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(TIMEOUT)
            .sslContext(trust())
            .build()) {
      HttpRequest sent = request.build();
      HttpResponse<byte[]> response =
          client.send(
              sent,
              HttpResponse.BodyHandlers.limiting(
                  HttpResponse.BodyHandlers.ofByteArray(), MAX_RESPONSE));
      if (response.statusCode() / 100 != 2) {
        throw new IOException(
            "%s %s: %s".formatted(sent.method(), sent.uri().getPath(), reason(response)));
      }
      return response.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private static String reason(HttpResponse<byte[]> response) {
    try {
      String message = Json.parse(response.body()).path("message").asText();
      return switch (response.statusCode()) {
        case CONFLICT, INVALID -> "the node has changed since it was read";
        default -> message.isEmpty() ? "HTTP " + response.statusCode() : message;
      };
    } catch (IOException e) {
      return "HTTP " + response.statusCode();
    }
  }

  private SSLContext trust() throws IOException {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      for (X509Certificate authority : CertificateAndKey.certificates(account.resolve("ca.crt"))) {
        trusted.setCertificateEntry("ca-" + trusted.size(), authority);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, factory.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "cannot use %s: %s".formatted(account.resolve("ca.crt"), Reason.of(e)), e);
    }
  }
}
