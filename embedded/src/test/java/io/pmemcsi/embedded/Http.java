package io.pmemcsi.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import io.pmemcsi.embedded.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Plain HTTP to the embedded API, for tests that look at single answers and events. */
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

  /** Watches config maps; the list grows by "TYPE name value" until the watch ends with "END". */
  List<String> watchConfigMaps(String parameters) throws IOException, InterruptedException {
    List<String> events = new CopyOnWriteArrayList<>();
    HttpRequest request =
        HttpRequest.newBuilder(base.resolve(CONFIG_MAPS + "?watch=true&" + parameters)).build();
    var response = client.send(request, BodyHandlers.ofInputStream());
    Thread.ofVirtual()
        .start(
            () -> {
              try (BufferedReader lines =
                  new BufferedReader(
                      new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                  events.add(shown(Json.parse(line)));
                }
              } catch (IOException _) {
                events.add("CUT");
                return;
              }
              events.add("END");
            });
    return events;
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
