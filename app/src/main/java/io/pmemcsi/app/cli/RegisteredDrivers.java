package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.VolumeNodeAffinity;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.registry.NodeInventory;
import io.pmemcsi.operator.facts.Paging;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The nodes that have the driver or its volumes, from objects that outlive a controller and its
 * records: kubelet lists the driver in the CSINode while it is registered on the node, and a
 * PersistentVolume names its node also while the driver does not run there.
 */
record RegisteredDrivers(DriverName driver, Optional<KubeconfigContent> access)
    implements NodeInventory {

  /**
   * The inventory, where there is a cluster.
   *
   * @param access empty for the pod's own account
   */
  static NodeInventory of(
      DriverName driver, Optional<KubeconfigContent> access, CliEnvironment environment) {
    return access.isPresent() || !environment.variable("KUBERNETES_SERVICE_HOST").isEmpty()
        ? new RegisteredDrivers(driver, access)
        : NONE;
  }

  /** The controller caches the answer, so that no connection is kept. */
  @Override
  public Set<String> nodes() throws IOException {
    try (KubernetesClient client = ApiAccess.client(access)) {
      Set<String> nodes =
          RegisteredDrivers.<CSINode>names(
              client.storage().v1().csiNodes()::list,
              page -> page.filter(this::hasDriver).map(node -> node.getMetadata().getName()));
      RegisteredDrivers.<PersistentVolume>names(
              client.persistentVolumes()::list,
              page -> page.filter(this::isOfDriver).flatMap(this::nodes))
          .stream()
          .filter(node -> !nodes.contains(node) && exists(client, node))
          .forEach(nodes::add);
      return nodes;
    } catch (KubernetesClientException e) {
      throw new IOException(
          "the API server does not list CSINodes and PersistentVolumes: " + Refusal.reason(e), e);
    }
  }

  /** Keeps names only: all PersistentVolumes of a cluster do not fit into the controller's heap. */
  private static <T extends HasMetadata> Set<String> names(
      Function<ListOptions, ? extends KubernetesResourceList<T>> list,
      Function<Stream<T>, Stream<String>> select) {
    return Paging.<T, Set<String>>fold(
        list,
        HashSet::new,
        (names, page) -> {
          select.apply(page.stream()).forEach(names::add);
          return names;
        });
  }

  @Override
  public Set<String> deleted(Collection<String> candidates) throws IOException {
    try (KubernetesClient client = ApiAccess.client(access)) {
      return candidates.stream()
          .filter(node -> !exists(client, node))
          .collect(Collectors.toUnmodifiableSet());
    } catch (KubernetesClientException e) {
      throw new IOException("the API server does not return Nodes: " + Refusal.reason(e), e);
    }
  }

  private static boolean exists(KubernetesClient client, String node) {
    return client.nodes().withName(node).get() != null;
  }

  private boolean hasDriver(CSINode node) {
    return node.getSpec().getDrivers().stream()
        .anyMatch(each -> driver.value().equals(each.getName()));
  }

  private boolean isOfDriver(PersistentVolume volume) {
    return volume.getSpec().getCsi() != null
        && driver.value().equals(volume.getSpec().getCsi().getDriver());
  }

  /** Several for a volume of the persistency model cache. */
  private Stream<String> nodes(PersistentVolume volume) {
    return Optional.ofNullable(volume.getSpec().getNodeAffinity())
        .map(VolumeNodeAffinity::getRequired)
        .stream()
        .flatMap(required -> required.getNodeSelectorTerms().stream())
        .flatMap(term -> term.getMatchExpressions().stream())
        .filter(expression -> expression.getKey().equals(driver.topologyKey()))
        .flatMap(expression -> expression.getValues().stream());
  }
}
