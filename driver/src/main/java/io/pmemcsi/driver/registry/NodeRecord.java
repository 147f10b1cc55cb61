package io.pmemcsi.driver.registry;

import io.pmemcsi.driver.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What the controller knows of one node.
 *
 * @param reported whether the node has ever listed its volumes
 * @param volumes the volumes that the node has reported, with their sizes
 * @param pending the volumes that the node may have: their creation was forwarded to it without a
 *     definite answer yet, or may have been by a controller whose records are lost
 */
record NodeRecord(String nodeId, boolean reported, Map<String, Long> volumes, Set<String> pending) {

  NodeRecord {
    volumes = Map.copyOf(volumes);
    pending = Set.copyOf(pending);
  }

  static NodeRecord empty(String nodeId) {
    return new NodeRecord(nodeId, false, Map.of(), Set.of());
  }

  boolean isEmpty() {
    return volumes.isEmpty() && pending.isEmpty();
  }

  boolean holds(String volumeId) {
    return volumes.containsKey(volumeId) || pending.contains(volumeId);
  }

  NodeRecord withPending(String volumeId) {
    Set<String> more = new TreeSet<>(pending);
    more.add(volumeId);
    return new NodeRecord(nodeId, reported, volumes, more);
  }

  NodeRecord withVolume(String volumeId, long bytes) {
    Map<String, Long> more = new TreeMap<>(volumes);
    more.put(volumeId, bytes);
    Set<String> fewer = new TreeSet<>(pending);
    fewer.remove(volumeId);
    return new NodeRecord(nodeId, reported, more, fewer);
  }

  NodeRecord without(String volumeId) {
    Map<String, Long> kept = new TreeMap<>(volumes);
    kept.remove(volumeId);
    Set<String> fewer = new TreeSet<>(pending);
    fewer.remove(volumeId);
    return new NodeRecord(nodeId, reported, kept, fewer);
  }

  /**
   * Takes over the node's own list.
   *
   * @param touched volumes with calls while the node was asked: the list may be older than what is
   *     known of them
   */
  NodeRecord listed(Map<String, Long> list, Set<String> touched) {
    Map<String, Long> merged = new TreeMap<>(list);
    merged.keySet().removeAll(touched);
    touched.stream()
        .filter(volumes::containsKey)
        .forEach(each -> merged.put(each, volumes.get(each)));
    return new NodeRecord(nodeId, true, merged, pending);
  }

  byte[] json() {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("node", nodeId);
    if (!reported) {
      fields.put("reported", false);
    }
    fields.put("volumes", new TreeMap<>(volumes));
    fields.put(
        "pending",
        new TreeMap<>(pending.stream().collect(Collectors.toMap(id -> id, _ -> "create"))));
    return Json.line(fields).getBytes(StandardCharsets.UTF_8);
  }

  static NodeRecord parse(byte[] content) throws IOException {
    Json json = Json.parse(content);
    String node =
        json.path("node").text().orElseThrow(() -> new IOException("it does not name a node"));
    Map<String, Long> volumes = new TreeMap<>();
    if (json.path("volumes") instanceof Json.Fields(Map<String, Json> sizes)) {
      for (Map.Entry<String, Json> each : sizes.entrySet()) {
        volumes.put(
            each.getKey(),
            each.getValue()
                .number()
                .orElseThrow(() -> new IOException("volume " + each.getKey() + " has no size")));
      }
    } else {
      throw new IOException("it has no volumes");
    }
    Set<String> pending =
        json.path("pending") instanceof Json.Fields(Map<String, Json> ids)
            ? ids.keySet()
            : Set.of();
    boolean reported = !json.path("reported").asText().equals("false");
    return new NodeRecord(node, reported, volumes, pending);
  }
}
