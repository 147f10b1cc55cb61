package io.pmemcsi.app.convert;

import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One merge patch to a Node as one request. The client's own patch reads the object first, which an
 * account that may only patch nodes must not.
 */
final class NodePatch {

  private static final String MERGE_PATCH = "application/merge-patch+json";
  private static final long TIMEOUT_SECONDS = 30;

  private final KubernetesClient client;

  NodePatch(KubernetesClient client) {
    this.client = client;
  }

  void send(String node, Map<String, Object> patch) throws IOException {
    HttpClient http = client.getHttpClient();
    HttpRequest request =
        http.newHttpRequestBuilder()
            .uri(
                "%sapi/v1/nodes/%s"
                    .formatted(
                        client.getMasterUrl(), URLEncoder.encode(node, StandardCharsets.UTF_8)))
            .patch(MERGE_PATCH, client.getKubernetesSerialization().asJson(patch))
            .build();
    try {
      HttpResponse<String> response =
          http.sendAsync(request, String.class).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      if (!response.isSuccessful()) {
        throw new IOException(reason(response));
      }
    } catch (ExecutionException e) {
      throw new IOException(Reason.of(e), e);
    } catch (TimeoutException e) {
      throw new IOException("no answer in %d seconds".formatted(TIMEOUT_SECONDS), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private String reason(HttpResponse<String> response) {
    try {
      Status status =
          client.getKubernetesSerialization().unmarshal(response.bodyString(), Status.class);
      return status.getMessage();
    } catch (IOException | RuntimeException e) {
      return "HTTP %d %s".formatted(response.code(), response.message());
    }
  }
}
