package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.VolumeAttachment;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.List;
import java.util.TreeMap;

/**
 * An attacher in the tests: VolumeAttachment objects follow the pods.
 *
 * @param driver whose volumes it attaches
 * @param prefix of the names of PersistentVolumes, before the number of the pod
 */
record PlayedAttacher(KubernetesClient client, String driver, String prefix) {

  List<VolumeAttachment> attachments() {
    return client.storage().v1().volumeAttachments().list().getItems().stream()
        .filter(found -> found.getSpec().getAttacher().equals(driver))
        .toList();
  }

  /** One for each pod of the applications that has a node, and no other. */
  void follow(List<Pod> applications) {
    var wanted = new TreeMap<String, VolumeAttachment>();
    for (Pod pod : applications) {
      String node = pod.getSpec().getNodeName();
      if (node != null) {
        String name = pod.getMetadata().getName();
        String volume = prefix + name.substring(name.lastIndexOf('-') + 1);
        wanted.put(volume + "-" + node, CsiVolumes.attachment(volume, driver, node));
      }
    }
    for (VolumeAttachment found : attachments()) {
      if (wanted.remove(found.getMetadata().getName()) == null) {
        client.resource(found).delete();
      }
    }
    wanted.values().forEach(missing -> client.resource(missing).create());
  }
}
