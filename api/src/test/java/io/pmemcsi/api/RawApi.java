package io.pmemcsi.api;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.net.URI;
import java.util.List;
import java.util.Locale;

/** Talks to the API server as curl would, so that a test sees warnings and every byte. */
final class RawApi {

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  private final KubernetesClient client;

  RawApi(KubernetesClient client) {
    this.client = client;
  }

  /** The response of the server. */
  record Answer(int status, String body, List<String> warnings) {
    JsonNode json() {
      return JSON.unmarshal(body, JsonNode.class);
    }
  }

  Answer create(JsonNode object, String query) {
    return send(request(directory(object) + query).post("application/json", JSON.asJson(object)));
  }

  void delete(JsonNode object) {
    String path = directory(object) + "/" + object.at("/metadata/name").asText();
    send(request(path).delete("application/json", "{}"));
  }

  Answer get(String path) {
    return send(request(path));
  }

  /** What {@code kubectl get} gets to print. */
  JsonNode table(Class<? extends CustomResource<?, ?>> kind, String name) {
    String path =
        "/apis/%s/%s%s/%s"
            .formatted(
                HasMetadata.getGroup(kind),
                HasMetadata.getVersion(kind),
                collection(HasMetadata.getPlural(kind)),
                name);
    return send(request(path).header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"))
        .json();
  }

  private String directory(JsonNode object) {
    String plural = object.path("kind").asText().toLowerCase(Locale.ROOT) + "s";
    return "/apis/" + object.path("apiVersion").asText() + collection(plural);
  }

  private String collection(String plural) {
    return plural.equals("csidriverdeployments")
        ? "/namespaces/" + client.getNamespace() + "/" + plural
        : "/" + plural;
  }

  private HttpRequest.Builder request(String path) {
    URI server = URI.create(client.getMasterUrl().toString());
    return client.getHttpClient().newHttpRequestBuilder().uri(server.resolve(path));
  }

  private Answer send(HttpRequest.Builder request) {
    HttpResponse<String> response =
        client.getHttpClient().sendAsync(request.build(), String.class).join();
    return new Answer(response.code(), response.body(), response.headers("Warning"));
  }
}
