package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.pmemcsi.embedded.json.Json;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** One of the two API servers, with what it answered so far. */
final class Server {
  private static final Pattern KEPT = Pattern.compile("\\$(rv|uid)\\((\\w+)\\)");

  private final KubernetesClient client;
  private final String namespace;
  private final Map<String, JsonNode> kept = new HashMap<>();

  Server(KubernetesClient client, String namespace) {
    this.client = client;
    this.namespace = namespace;
  }

  /** An HTTP status and a body. */
  record Answer(int code, JsonNode body) {}

  Answer send(Step step) {
    HttpRequest.Builder request =
        client
            .getHttpClient()
            .newHttpRequestBuilder()
            .uri(
                URI.create(
                    client.getMasterUrl().toString().replaceAll("/$", "") + filled(step.uri())))
            .setHeader("User-Agent", "differential/1");
    String body = step.body().map(node -> filled(node.toString())).orElse(null);
    if (body != null || !step.method().equals("GET")) {
      request.method(step.method(), step.contentType(), body == null ? "" : body);
    }
    try {
      HttpResponse<String> response =
          client.getHttpClient().sendAsync(request.build(), String.class).get();
      String text = response.body();
      JsonNode answer = text.startsWith("{") ? Json.parse(text) : TextNode.valueOf(text);
      if (!step.keep().isEmpty()) {
        kept.put(step.keep(), answer);
      }
      return new Answer(response.code(), answer);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("no answer to " + step, e);
    }
  }

  /** Waits until a custom resource definition is established and its kind is served. */
  void await(Step step) {
    String crd = step.path().substring(step.path().indexOf('/') + 1);
    Step list = Step.of("list", "/apis/NS.example.com/v1/" + crd.substring(0, crd.indexOf('.')));
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> send(step).body().toString().contains("InitialNamesAccepted"));
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> send(list).code() == 200);
  }

  private String filled(String text) {
    Matcher matcher = KEPT.matcher(text.replace("NS", namespace));
    return matcher.replaceAll(
        match -> {
          JsonNode metadata = kept.getOrDefault(match.group(2), Json.object()).path("metadata");
          return metadata.path(match.group(1).equals("rv") ? "resourceVersion" : "uid").asText();
        });
  }
}
