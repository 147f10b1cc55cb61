package io.pmemcsi.standin;

import csi.v1.Topology;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.Optional;

/** The nodes that a provisioner creates volumes on. */
sealed interface Nodes {

  /** The topology of a node, unless another provisioner is responsible for it. */
  Optional<Topology> topology(String node);

  /** Whether this provisioner deletes a volume. */
  boolean owns(PersistentVolume volume);

  /** The node of the provisioner itself. */
  record Own(String name, Topology topology) implements Nodes {

    @Override
    public Optional<Topology> topology(String node) {
      return node.equals(name) ? Optional.of(topology) : Optional.empty();
    }

    @Override
    public boolean owns(PersistentVolume volume) {
      return Claims.isHere(volume, topology);
    }
  }

  /** All nodes on which the driver is registered: they have its topology as labels. */
  record All(KubernetesClient client, String driverName) implements Nodes {

    @Override
    public Optional<Topology> topology(String node) {
      CSINode registered = client.storage().v1().csiNodes().withName(node).get();
      if (registered == null) {
        return Optional.empty();
      }
      Map<String, String> labels = client.nodes().withName(node).get().getMetadata().getLabels();
      return registered.getSpec().getDrivers().stream()
          .filter(driver -> driver.getName().equals(driverName))
          .findFirst()
          .map(
              driver -> {
                Topology.Builder topology = Topology.newBuilder();
                driver
                    .getTopologyKeys()
                    .forEach(key -> topology.putSegments(key, labels.getOrDefault(key, "")));
                return topology.build();
              });
    }

    @Override
    public boolean owns(PersistentVolume volume) {
      return true;
    }
  }
}
