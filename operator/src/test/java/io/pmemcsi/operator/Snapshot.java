package io.pmemcsi.operator;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** The state of all objects of a driver, without what differs from run to run. */
final class Snapshot {

  private static final ObjectMapper JSON = new ObjectMapper();

  private Snapshot() {}

  static Map<String, String> of(
      KubernetesClient client, String namespace, String prefix, String driver) {
    return of(Leftovers.objects(client, namespace, prefix, driver));
  }

  static Map<String, String> of(List<HasMetadata> objects) {
    var result = new TreeMap<String, String>();
    for (HasMetadata object : objects) {
      ObjectNode node = JSON.valueToTree(object);
      ObjectNode metadata = (ObjectNode) node.get("metadata");
      metadata.remove(
          List.of(
              "uid",
              "resourceVersion",
              "creationTimestamp",
              "managedFields",
              "generation",
              "selfLink"));
      metadata
          .withObject("labels")
          .remove(
              List.of("pmem-csi.intel.com/owner-uid", "csidriver.storage.openshift.io/owner-uid"));
      // counts the changes of the pods, and two changes may be seen as one
      metadata
          .withObject("annotations")
          .remove(
              List.of(
                  "deprecated.daemonset.template.generation", "deployment.kubernetes.io/revision"));
      for (JsonNode owner : metadata.path("ownerReferences")) {
        ((ObjectNode) owner).remove("uid");
      }
      node.remove("status");
      // of service accounts: the names of their tokens are made up by the server
      node.remove("secrets");
      if (node.path("spec") instanceof ObjectNode spec) {
        spec.remove(List.of("clusterIP", "clusterIPs"));
      }
      if (node.path("data") instanceof ObjectNode data) {
        data.fieldNames().forEachRemaining(name -> data.put(name, "any"));
      }
      for (JsonNode webhook : node.path("webhooks")) {
        if (webhook.path("clientConfig") instanceof ObjectNode config) {
          config.put("caBundle", "any");
        }
      }
      result.put(object.getKind() + " " + object.getMetadata().getName(), node.toString());
    }
    return result;
  }

  /** What differs but for the order of elements: those that were there first stay in front. */
  static List<String> differences(Map<String, String> now, Map<String, String> wanted) {
    var result = new ArrayList<String>();
    var names = new TreeSet<>(now.keySet());
    names.addAll(wanted.keySet());
    for (String name : names) {
      JsonNode have = sorted(now.getOrDefault(name, "{}"));
      JsonNode want = sorted(wanted.getOrDefault(name, "{}"));
      if (!have.equals(want)) {
        result.add("%s: want %s, have %s".formatted(name, want, have));
      }
    }
    return result;
  }

  private static JsonNode sorted(String json) {
    try {
      JsonNode node = JSON.readTree(json);
      Fresh.sort(node);
      return node;
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
