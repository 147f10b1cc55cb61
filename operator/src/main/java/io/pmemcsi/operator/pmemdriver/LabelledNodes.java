package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cache of nodes that keeps their names and labels only. A node reports much about itself, its
 * images above all, and there may be thousands.
 */
final class LabelledNodes implements ItemStore<Node> {

  private final Map<String, Node> nodes = new ConcurrentHashMap<>();

  @Override
  public String getKey(Node node) {
    return Cache.metaNamespaceKeyFunc(node);
  }

  @Override
  public @Nullable Node put(String key, Node node) {
    return nodes.put(key, reduced(node));
  }

  @Override
  public @Nullable Node remove(String key) {
    return nodes.remove(key);
  }

  @Override
  public Stream<String> keySet() {
    return nodes.keySet().stream();
  }

  @Override
  public Stream<Node> values() {
    return nodes.values().stream();
  }

  @Override
  public int size() {
    return nodes.size();
  }

  @Override
  public @Nullable Node get(String key) {
    return nodes.get(key);
  }

  private static Node reduced(Node node) {
    var metadata = node.getMetadata();
    return new NodeBuilder()
        .withNewMetadata()
        .withName(metadata.getName())
        .withUid(metadata.getUid())
        .withResourceVersion(metadata.getResourceVersion())
        .withLabels(metadata.getLabels())
        .endMetadata()
        .build();
  }
}
