package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.pmemcsi.embedded.json.Json;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** One of the two API servers, with what it answered so far. */
final class Server {
  private static final Pattern KEPT = Pattern.compile("\\$(rv|uid)\\((\\w+)\\)");

  private static final Duration LIMIT = Duration.ofMinutes(3);

  private final KubernetesClient client;
  private final String namespace;
  private final Runnable forget;
  private final Map<String, JsonNode> kept = new HashMap<>();

  /**
   * @param forget makes the server forget its history, where it has one to forget
   */
  Server(KubernetesClient client, String namespace, Runnable forget) {
    this.client = client;
    this.namespace = namespace;
    this.forget = forget;
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
      JsonNode answer =
          step.operation().equals("watch") && response.code() == 200
              ? events(text)
              : text.startsWith("{") ? Json.parse(text) : TextNode.valueOf(text);
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

  private static JsonNode events(String lines) {
    ArrayNode events = Json.array();
    lines.lines().forEach(line -> events.add(Json.parse(line)));
    return events;
  }

  /** Does what a step says that only waits; false if it is another kind of step. */
  boolean await(Step step) {
    switch (step.operation()) {
      case "wait" -> {
        until(() -> send(step).body().toString().contains("InitialNamesAccepted"));
        until(() -> send(listOf(step)).code() == 200);
      }
      case "gone" -> until(() -> send(step).code() == 404);
      case "ending" -> until(() -> Json.at(send(step).body(), "metadata").has("deletionTimestamp"));
      case "single" ->
          until(() -> Json.at(send(step).body(), "metadata", "ownerReferences").size() == 1);
      case "forget" -> forget.run();
      default -> {
        return false;
      }
    }
    return true;
  }

  /** The list of the kind that a custom resource definition defines. */
  private static Step listOf(Step definition) {
    String name = definition.path().substring(definition.path().indexOf('/') + 1);
    return Step.of("list", "/apis/NS.example.com/v1/" + name.substring(0, name.indexOf('.')));
  }

  private static void until(Callable<Boolean> condition) {
    Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(50)).until(condition);
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
