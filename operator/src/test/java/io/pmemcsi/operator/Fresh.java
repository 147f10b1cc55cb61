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
 * Compares an object with the one that the server would make if it were created now: nothing may be
 * left of what was wanted before.
 */
final class Fresh {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** What the server made of an object once it would make of it again. */
  private static final Map<JsonNode, ObjectNode> MADE = new ConcurrentHashMap<>();

  private Fresh() {}

  static List<String> differences(KubernetesClient client, HasMetadata wanted, HasMetadata actual) {
    HasMetadata other = client.getKubernetesSerialization().clone(wanted);
    other.getMetadata().setName("fresh-" + wanted.getMetadata().getName());
    boolean port = other instanceof Service service && dropNodePorts(service);
    ObjectNode want =
        MADE.computeIfAbsent(
            JSON.valueToTree(other), _ -> contents(client.resource(other).dryRun().create(), port));
    ObjectNode have = contents(actual, port);
    return want.equals(have)
        ? List.of()
        : List.of(
            "%s %s: want %s, have %s"
                .formatted(wanted.getKind(), wanted.getMetadata().getName(), want, have));
  }

  /** They can be given away only once. */
  private static boolean dropNodePorts(Service service) {
    boolean any = service.getSpec().getPorts().stream().anyMatch(it -> it.getNodePort() != null);
    service.getSpec().getPorts().forEach(it -> it.setNodePort(null));
    return any;
  }

  private static ObjectNode contents(HasMetadata object, boolean withoutNodePorts) {
    ObjectNode node = JSON.valueToTree(object);
    // the tokens of service accounts and the addresses of services are made up by the server
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
    node.forEach(Fresh::sort);
    if (node instanceof ArrayNode array && array.path(0).isObject()) {
      var elements = new ArrayList<JsonNode>();
      array.forEach(elements::add);
      elements.sort(Comparator.comparing(JsonNode::toString));
      array.removeAll();
      array.addAll(elements);
    }
  }
}
