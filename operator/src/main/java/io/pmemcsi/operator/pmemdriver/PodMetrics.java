package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.base.file.BoundedText;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/** The metrics of a driver pod, in the text format of Prometheus. */
final class PodMetrics {

  /** The client costs threads and time: there is one, from the first use on. */
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  private PodMetrics() {}

  /** Empty if the pod gives no answer. */
  static Optional<String> read(String podIp) {
    String host = podIp.contains(":") ? "[" + podIp + "]" : podIp;
    var request =
        HttpRequest.newBuilder(
                URI.create("http://%s:%d/metrics".formatted(host, PmemModel.METRICS_PORT)))
            .timeout(Duration.ofSeconds(5))
            .build();
    try {
      var answer = CLIENT.send(request, HttpResponse.BodyHandlers.ofInputStream());
      try (InputStream body = answer.body()) {
        return answer.statusCode() == 200 ? Optional.of(BoundedText.read(body)) : Optional.empty();
      }
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
