package io.pmemcsi.app.cli;

import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.VolumeNodeAffinity;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.registry.NodeInventory;
import io.pmemcsi.operator.facts.Refusal;
import io.pmemcsi.operator.runtime.ApiAccess;
import io.pmemcsi.operator.runtime.KubeconfigContent;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
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
          client.storage().v1().csiNodes().list().getItems().stream()
              .filter(this::hasDriver)
              .map(node -> node.getMetadata().getName())
              .collect(Collectors.toCollection(HashSet::new));
      client.persistentVolumes().list().getItems().stream()
          .filter(this::isOfDriver)
          .flatMap(this::nodes)
          .distinct()
          .filter(node -> !nodes.contains(node) && exists(client, node))
          .forEach(nodes::add);
      return nodes;
    } catch (KubernetesClientException e) {
      throw new IOException(
          "the API server does not list CSINodes and PersistentVolumes: " + Refusal.reason(e), e);
    }
  }

  /** An administrator who deletes a Node gives up its volumes. */
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
