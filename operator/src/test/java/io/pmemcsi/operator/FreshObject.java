package io.pmemcsi.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Compares an object with a newly created one: no field of a previous desired state may be left.
 */
final class FreshObject {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** The differences to an object that the server creates from the same input. */
  private static final Map<JsonNode, ObjectNode> MADE = new ConcurrentHashMap<>();

  private FreshObject() {}

  static List<String> differences(
      KubernetesClient client, HasMetadata desired, HasMetadata actual) {
    HasMetadata other = client.getKubernetesSerialization().clone(desired);
    other.getMetadata().setName("fresh-" + desired.getMetadata().getName());
    boolean port = other instanceof Service service && dropNodePorts(service);
    ObjectNode expectedJson =
        MADE.computeIfAbsent(
            JSON.valueToTree(other), _ -> contents(client.resource(other).dryRun().create(), port));
    ObjectNode actualJson = contents(actual, port);
    return expectedJson.equals(actualJson)
        ? List.of()
        : List.of(
            "%s %s: expected %s, actual %s"
                .formatted(
                    desired.getKind(), desired.getMetadata().getName(), expectedJson, actualJson));
  }

  /** The server assigns them only once. */
  private static boolean dropNodePorts(Service service) {
    boolean any = service.getSpec().getPorts().stream().anyMatch(it -> it.getNodePort() != null);
    service.getSpec().getPorts().forEach(it -> it.setNodePort(null));
    return any;
  }

  private static ObjectNode contents(HasMetadata object, boolean withoutNodePorts) {
    ObjectNode node = JSON.valueToTree(object);
    // the tokens of service accounts and the addresses of services are assigned by the server
    node.remove(List.of("metadata", "status", "secrets", "data"));
    if (node.path("spec") instanceof ObjectNode spec) {
      spec.remove(List.of("clusterIP", "clusterIPs"));
      if (withoutNodePorts) {
        spec.path("ports").forEach(port -> ((ObjectNode) port).remove("nodePort"));
      }
    }
    node.path("webhooks")
        .forEach(hook -> ((ObjectNode) hook.path("clientConfig")).put("caBundle", "any"));
    sort(node);
    return node;
  }

  /** Server-side apply keeps the elements of lists with keys, not always their order. */
  static void sort(JsonNode node) {
    node.forEach(FreshObject::sort);
    if (node instanceof ArrayNode array && array.path(0).isObject()) {
      var elements = new ArrayList<JsonNode>();
      array.forEach(elements::add);
      elements.sort(Comparator.comparing(JsonNode::toString));
      array.removeAll();
      array.addAll(elements);
    }
  }
}
