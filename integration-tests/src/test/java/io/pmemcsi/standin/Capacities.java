package io.pmemcsi.standin;

import csi.v1.GetCapacityRequest;
import csi.v1.Topology;
import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Publishes what is available on one node, in one object per storage class of the driver. */
record Capacities(
    KubernetesClient client,
    DriverClient driver,
    String driverName,
    Topology topology,
    String apiVersion) {

  private static final String KIND = "CSIStorageCapacity";

  /** With the newest version of the API that the server has, as releases of the real one do. */
  static Capacities of(
      KubernetesClient client, DriverClient driver, String driverName, Topology topology) {
    return new Capacities(
        client,
        driver,
        driverName,
        topology,
        List.of("v1", "v1beta1", "v1alpha1").stream()
            .map(version -> "storage.k8s.io/" + version)
            .filter(version -> isServed(client, version))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("the server has no " + KIND)));
  }

  private static boolean isServed(KubernetesClient client, String apiVersion) {
    APIResourceList served = client.getApiResources(apiVersion);
    return served != null
        && served.getResources().stream().anyMatch(resource -> resource.getKind().equals(KIND));
  }

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
    GenericKubernetesResource capacity =
        new GenericKubernetesResourceBuilder()
            .withApiVersion(apiVersion)
            .withKind(KIND)
            .withNewMetadata()
            .withName("csisc-" + storageClass.getMetadata().getUid())
            .withNamespace(client.getNamespace())
            .addToLabels("csi.storage.k8s.io/drivername", driverName)
            .addToLabels("csi.storage.k8s.io/managed-by", "external-provisioner")
            .endMetadata()
            .addToAdditionalProperties("storageClassName", storageClass.getMetadata().getName())
            .addToAdditionalProperties(
                "nodeTopology", Map.of("matchLabels", topology.getSegmentsMap()))
            .addToAdditionalProperties("capacity", Long.toString(available))
            .build();
    GenericKubernetesResource found = client.resource(capacity).get();
    if (found == null) {
      client.resource(capacity).create();
    } else if (!Quantity.parse(String.valueOf(found.<Object>get("capacity")))
        .equals(new Quantity(Long.toString(available)))) {
      found.setAdditionalProperty("capacity", Long.toString(available));
      client.resource(found).update();
    }
  }
}
