package io.pmemcsi.operator.controller;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * How a kind observes the cluster on behalf of one resource: through informers in the operator,
 * through the API in a preview.
 *
 * @param <R> the resource
 */
public interface ClusterReader<R extends HasMetadata> {

  /** The objects of a type that were created for the resource. */
  <T extends HasMetadata> List<T> owned(Class<T> type);

  /** The one with this name. */
  default <T extends HasMetadata> Optional<T> owned(Class<T> type, String name) {
    return owned(type).stream()
        .filter(object -> object.getMetadata().getName().equals(name))
        .findFirst();
  }

  /** Whether any object of any type was created for the resource. */
  boolean ownsObjects();

  /** The object with the example's type, namespace and name, of any owner. */
  <T extends HasMetadata> Optional<T> find(T example);

  /**
   * The same for a type that another watch covers.
   *
   * @param source the name of that watch
   */
  <T extends HasMetadata> Optional<T> watched(T example, String source);

  /**
   * Every object that another watch covers; none if its CRD is not installed.
   *
   * @param source the name of that watch
   */
  <T extends HasMetadata> List<T> watched(Class<T> type, String source, Predicate<T> which);

  /**
   * Other resources of the same kind.
   *
   * @param index by which informers find them; a preview returns all of them
   */
  List<R> peers(String index, Collection<String> keys);

  KubernetesClient client();
}
