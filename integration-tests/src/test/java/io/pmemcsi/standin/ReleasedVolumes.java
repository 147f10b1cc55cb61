package io.pmemcsi.standin;

import csi.v1.DeleteVolumeRequest;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Map;
import java.util.Objects;

/** Deletes volumes whose claim was deleted. */
record ReleasedVolumes(
    KubernetesClient client, DriverClient driver, String driverName, Nodes nodes) {

  void delete() {
    client.persistentVolumes().list().getItems().stream().filter(this::isDue).forEach(this::delete);
  }

  private boolean isDue(PersistentVolume volume) {
    Map<String, String> annotations =
        Objects.requireNonNullElse(volume.getMetadata().getAnnotations(), Map.of());
    return driverName.equals(annotations.get(Claims.PROVISIONED_BY))
        && volume.getStatus() != null
        && "Released".equals(volume.getStatus().getPhase())
        && "Delete".equals(volume.getSpec().getPersistentVolumeReclaimPolicy())
        && nodes.owns(volume);
  }

  private void delete(PersistentVolume volume) {
    driver
        .controller()
        .deleteVolume(
            DeleteVolumeRequest.newBuilder()
                .setVolumeId(volume.getSpec().getCsi().getVolumeHandle())
                .build());
    client.resource(volume).delete();
    System.out.println("deleted " + volume.getMetadata().getName());
  }
}
