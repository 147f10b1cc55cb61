package io.pmemcsi.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;

/** Plain HTTP to the embedded API, for tests of single responses and events. */
final class Http {
  private static final String CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

  private final URI base;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  Http(URI base) {
    this.base = base;
  }

  /** An HTTP status and a body. */
  record Answer(int code, JsonNode body) {}

  Answer createConfigMap(String name) throws IOException, InterruptedException {
    return send(
        "POST", CONFIG_MAPS, "application/json", "{\"metadata\":{\"name\":\"" + name + "\"}}");
  }

  Answer setData(String name, String value) throws IOException, InterruptedException {
    return send(
        "PATCH",
        CONFIG_MAPS + "/" + name,
        "application/merge-patch+json",
        "{\"data\":{\"key\":\"" + value + "\"}}");
  }

  Answer get(String path) throws IOException, InterruptedException {
    return send("GET", path, "application/json", "");
  }

  List<String> configMaps() throws IOException, InterruptedException {
    List<String> names = new ArrayList<>();
    get(CONFIG_MAPS)
        .body()
        .path("items")
        .forEach(item -> names.add(Json.text(item, "metadata", "name")));
    return names;
  }

  /** That of a list, from which a watch can go on. */
  String revision() throws IOException, InterruptedException {
    return Json.text(get(CONFIG_MAPS).body(), "metadata", "resourceVersion");
  }

  Answer send(String method, String path, String contentType, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(base.resolve(path))
            .header("Content-Type", contentType)
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
            .build();
    HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
    return new Answer(response.statusCode(), Json.parse(response.body()));
  }

  /**
   * Watches config maps; the list receives "TYPE name value" until the watch ends with "END", or
   * with "CUT" where the connection broke.
   */
  List<String> watchConfigMaps(String parameters) {
    HttpRequest request =
        HttpRequest.newBuilder(base.resolve(CONFIG_MAPS + "?watch=true&" + parameters)).build();
    EventLines lines = new EventLines();
    CompletableFuture<Void> open = new CompletableFuture<>();
    CompletableFuture<?> end =
        client.sendAsync(
            request,
            _ -> {
              open.complete(null);
              return BodySubscribers.fromLineSubscriber(lines);
            });
    CompletableFuture.anyOf(open, end).join();
    return lines.events;
  }

  /**
   * Takes the lines as they come. A stream to read from would not do: when its connection breaks,
   * the client throws away what came before and was not read yet.
   */
  private static final class EventLines implements Flow.Subscriber<String> {
    private final List<String> events = new CopyOnWriteArrayList<>();

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(String line) {
      events.add(shown(Json.parse(line)));
    }

    @Override
    public void onError(Throwable failure) {
      events.add("CUT");
    }

    @Override
    public void onComplete() {
      events.add("END");
    }
  }

  private static String shown(JsonNode event) {
    String type = Json.text(event, "type");
    if (type.equals("ERROR")) {
      return "ERROR " + Json.at(event, "object", "code").asInt();
    }
    String name = Json.text(event, "object", "metadata", "name");
    return (type + " " + name + " " + Json.text(event, "object", "data", "key")).strip();
  }
}
