package io.pmemcsi.operator.pmemdriver;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.OptionalLong;

/** Asks a driver pod how much persistent memory it manages. */
@FunctionalInterface
interface MemoryReader {

  /** The bytes that the driver may use on its node; empty if it gives no answer. */
  OptionalLong managedBytes(String podIp);

  /** Reads the metric {@code pmem_amount_managed} from the pod's metrics. */
  static MemoryReader overHttp() {
    HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
    return ip -> {
      String host = ip.contains(":") ? "[" + ip + "]" : ip;
      var request =
          HttpRequest.newBuilder(
                  URI.create("http://%s:%d/metrics".formatted(host, PmemModel.METRICS_PORT)))
              .timeout(Duration.ofSeconds(5))
              .build();
      try {
        HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
        return answer.statusCode() == 200 ? managed(answer.body()) : OptionalLong.empty();
      } catch (IOException e) {
        return OptionalLong.empty();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return OptionalLong.empty();
      }
    };
  }

  /**
   * From the text format of Prometheus. Memory that is there but not prepared counts in {@code
   * pmem_amount_total}, and is of no use to the driver.
   */
  static OptionalLong managed(String metrics) {
    return metrics
        .lines()
        .filter(line -> line.startsWith("pmem_amount_managed"))
        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
        .mapToLong(value -> (long) Double.parseDouble(value))
        .max();
  }
}
