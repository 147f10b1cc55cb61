package io.pmemcsi.bench.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.regex.Pattern;

/**
 * How many writes the API server has counted, from all clients. The leader renews its lease every
 * few seconds, which is no work on resources.
 */
record ServerWrites(KubernetesClient client) {

  private static final Pattern WRITE =
      Pattern.compile("verb=\"(POST|PUT|PATCH|APPLY|DELETE|DELETECOLLECTION)\"");

  long count() {
    return Math.round(
        lines().stream()
            .filter(line -> line.startsWith("apiserver_request_total{"))
            .filter(line -> WRITE.matcher(line).find())
            .filter(line -> !line.contains("resource=\"leases\""))
            .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
            .sum());
  }

  private List<String> lines() {
    return client.raw("/metrics").lines().toList();
  }
}
