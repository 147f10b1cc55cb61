package io.pmemcsi.operator.controller;

import static java.net.HttpURLConnection.HTTP_NOT_FOUND;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.operator.facts.Paging;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Reads from the API, for a resource that need not exist in the cluster. */
public record ApiReader<R extends HasMetadata>(
    R resource, KindTraits<R> traits, KubernetesClient client) implements ClusterReader<R> {

  @Override
  public <T extends HasMetadata> List<T> owned(Class<T> type) {
    return client
        .resources(type)
        .inAnyNamespace()
        .withLabel(traits.owned().ownership().uidLabel(), resource.getMetadata().getUid())
        .list()
        .getItems();
  }

  @Override
  public boolean ownsObjects() {
    return traits.owned().kinds().stream().anyMatch(type -> !owned(type).isEmpty());
  }

  @Override
  public <T extends HasMetadata> Optional<T> find(T example) {
    return Optional.ofNullable(client.resource(example).get());
  }

  @Override
  public <T extends HasMetadata> Optional<T> watched(T example, String source) {
    return find(example);
  }

  @Override
  public <T extends HasMetadata> List<T> watched(Class<T> type, String source, Predicate<T> which) {
    return list(type, which);
  }

  @Override
  public List<R> peers(String index, Collection<String> keys) {
    return list(
        traits.type(),
        peer -> !peer.getMetadata().getUid().equals(resource.getMetadata().getUid()));
  }

  /** The CRD of another kind may not be installed. */
  private <T extends HasMetadata> List<T> list(Class<T> type, Predicate<T> which) {
    try {
      return Paging.fold(
          client.resources(type).inAnyNamespace()::list,
          ArrayList<T>::new,
          (found, page) -> {
            page.stream().filter(which).forEach(found::add);
            return found;
          });
    } catch (KubernetesClientException e) {
      if (e.getCode() == HTTP_NOT_FOUND) {
        return List.of();
      }
      throw e;
    }
  }
}
