package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.CSINodeBuilder;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A cache of objects that exist once per node, of which it keeps only what is read here. A node
 * reports much about itself, its images above all, and there may be thousands.
 */
final class ReducedStore<T extends HasMetadata> implements ItemStore<T> {

  private final Map<String, T> objects = new ConcurrentHashMap<>();
  private final UnaryOperator<T> reduce;

  private ReducedStore(UnaryOperator<T> reduce) {
    this.reduce = reduce;
  }

  /** Nodes with their names and labels. */
  static ReducedStore<Node> ofNodes() {
    return new ReducedStore<>(
        node -> {
          ObjectMeta kept = identity(node);
          kept.setLabels(node.getMetadata().getLabels());
          return new NodeBuilder().withMetadata(kept).build();
        });
  }

  /** The drivers that kubelets have registered. */
  static ReducedStore<CSINode> ofRegisteredDrivers() {
    return new ReducedStore<>(
        node -> new CSINodeBuilder().withMetadata(identity(node)).withSpec(node.getSpec()).build());
  }

  private static ObjectMeta identity(HasMetadata object) {
    var metadata = object.getMetadata();
    return new ObjectMetaBuilder()
        .withName(metadata.getName())
        .withUid(metadata.getUid())
        .withResourceVersion(metadata.getResourceVersion())
        .build();
  }

  @Override
  public String getKey(T object) {
    return Cache.metaNamespaceKeyFunc(object);
  }

  @Override
  public @Nullable T put(String key, T object) {
    return objects.put(key, reduce.apply(object));
  }

  @Override
  public @Nullable T remove(String key) {
    return objects.remove(key);
  }

  @Override
  public Stream<String> keySet() {
    return objects.keySet().stream();
  }

  @Override
  public Stream<T> values() {
    return objects.values().stream();
  }

  @Override
  public int size() {
    return objects.size();
  }

  @Override
  public @Nullable T get(String key) {
    return objects.get(key);
  }
}
