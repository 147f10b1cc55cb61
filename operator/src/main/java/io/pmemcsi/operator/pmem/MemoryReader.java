package io.pmemcsi.operator.pmem;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.OptionalLong;

/** Asks a driver pod how much persistent memory it has found. */
@FunctionalInterface
interface MemoryReader {

  /** The bytes that the driver counts on its node; empty if it gives no answer. */
  OptionalLong totalBytes(String podIp);

  /** Reads the metric {@code pmem_amount_total} from the pod's metrics. */
  static MemoryReader overHttp() {
    HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
    return ip -> {
      String host = ip.contains(":") ? "[" + ip + "]" : ip;
      var request =
          HttpRequest.newBuilder(
                  URI.create("http://%s:%d/metrics".formatted(host, Driver.METRICS_PORT)))
              .timeout(Duration.ofSeconds(5))
              .build();
      try {
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        return answer.statusCode() == 200 ? total(answer.body()) : OptionalLong.empty();
      } catch (IOException e) {
        return OptionalLong.empty();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return OptionalLong.empty();
      }
    };
  }

  /** From the text format of Prometheus. */
  static OptionalLong total(String metrics) {
    return metrics
        .lines()
        .filter(line -> line.startsWith("pmem_amount_total"))
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .mapToLong(value -> (long) Double.parseDouble(value))
        .max();
  }
}
