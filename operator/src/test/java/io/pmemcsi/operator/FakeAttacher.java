package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.VolumeAttachment;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.TreeMap;

/**
 * A fake attacher: it creates and deletes VolumeAttachments to match the pods.
 *
 * @param driver whose volumes it attaches
 * @param prefix of the names of PersistentVolumes, before the number of the pod
 */
record FakeAttacher(KubernetesClient client, String driver, String prefix) {

  List<VolumeAttachment> attachments() {
    return client.storage().v1().volumeAttachments().list().getItems().stream()
        .filter(found -> found.getSpec().getAttacher().equals(driver))
        .toList();
  }

  /** Ensures one attachment for each scheduled pod of the applications, and no other. */
  void follow(List<Pod> applications) {
    var desired = new TreeMap<String, VolumeAttachment>();
    for (Pod pod : applications) {
      String node = pod.getSpec().getNodeName();
      if (node != null) {
        String name = pod.getMetadata().getName();
        String volume = prefix + name.substring(name.lastIndexOf('-') + 1);
        desired.put(volume + "-" + node, CsiVolumes.attachment(volume, driver, node));
      }
    }
    for (VolumeAttachment found : attachments()) {
      if (desired.remove(found.getMetadata().getName()) == null) {
        client.resource(found).delete();
      }
    }
    desired.values().forEach(missing -> client.resource(missing).create());
  }
}
