package io.pmemcsi.standin;

import csi.v1.GetCapacityRequest;
import csi.v1.Topology;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.api.model.storage.v1beta1.CSIStorageCapacity;
import io.fabric8.kubernetes.api.model.storage.v1beta1.CSIStorageCapacityBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.Objects;

/** Publishes what is available on one node, in one object per storage class of the driver. */
record Capacities(
    KubernetesClient client, DriverClient driver, String driverName, Topology topology) {

  void publish() {
    client.storage().v1().storageClasses().list().getItems().stream()
        .filter(storageClass -> storageClass.getProvisioner().equals(driverName))
        .forEach(this::publish);
  }

  private void publish(StorageClass storageClass) {
    long available =
        ProvisionerStandIn.capacity(
            driver,
            GetCapacityRequest.newBuilder()
                .putAllParameters(
                    Objects.requireNonNullElse(storageClass.getParameters(), Map.of()))
                .setAccessibleTopology(topology)
                .build());
    CSIStorageCapacity capacity =
        new CSIStorageCapacityBuilder()
            .withNewMetadata()
            .withName("csisc-" + storageClass.getMetadata().getUid())
            .withNamespace(client.getNamespace())
            .addToLabels("csi.storage.k8s.io/drivername", driverName)
            .addToLabels("csi.storage.k8s.io/managed-by", "external-provisioner")
            .endMetadata()
            .withStorageClassName(storageClass.getMetadata().getName())
            .withNodeTopology(
                new LabelSelectorBuilder().withMatchLabels(topology.getSegmentsMap()).build())
            .withCapacity(new Quantity(Long.toString(available)))
            .build();
    CSIStorageCapacity found = client.resource(capacity).get();
    if (found == null) {
      client.resource(capacity).create();
    } else if (!capacity.getCapacity().equals(found.getCapacity())) {
      found.setCapacity(capacity.getCapacity());
      client.resource(found).update();
    }
  }
}
