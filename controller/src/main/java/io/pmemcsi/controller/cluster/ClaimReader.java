package io.pmemcsi.controller.cluster;

import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.pmemcsi.controller.volume.ByteQuantity;
import io.pmemcsi.controller.volume.Claim;
import io.pmemcsi.controller.volume.NumaNode;
import io.pmemcsi.controller.volume.VolumeClass;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** From API objects to what scheduling needs of them. */
final class ClaimReader {

  /** Written by the scheduler, removed by a client that wants another choice. */
  static final String SELECTED_NODE = "volume.kubernetes.io/selected-node";

  private static final String OLD_CLASS = "volume.beta.kubernetes.io/storage-class";
  private static final String DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";
  private static final String OLD_DEFAULT_CLASS =
      "storageclass.beta.kubernetes.io/is-default-class";

  private ClaimReader() {}

  static Claim claim(PersistentVolumeClaim object) {
    Map<String, String> annotations = orEmpty(object.getMetadata().getAnnotations());
    var spec = object.getSpec();
    String className = spec == null ? null : spec.getStorageClassName();
    boolean bound =
        (spec != null && spec.getVolumeName() != null && !spec.getVolumeName().isEmpty())
            || (object.getStatus() != null && "Bound".equals(object.getStatus().getPhase()));
    // names of classes and nodes repeat: thousands of claims share one text
    return new Claim(
        bound,
        (className == null ? annotations.getOrDefault(OLD_CLASS, "") : className).intern(),
        requested(object),
        annotations.getOrDefault(SELECTED_NODE, "").intern());
  }

  static VolumeClass volumeClass(StorageClass object) {
    return new VolumeClass(
        String.valueOf(object.getProvisioner()),
        "WaitForFirstConsumer".equals(object.getVolumeBindingMode()),
        NumaNode.normalize(
            orEmpty(object.getParameters()).getOrDefault(VolumeClass.NUMA_NODE, "")));
  }

  static boolean isDefault(StorageClass object) {
    Map<String, String> annotations = orEmpty(object.getMetadata().getAnnotations());
    return "true".equals(annotations.get(DEFAULT_CLASS))
        || "true".equals(annotations.get(OLD_DEFAULT_CLASS));
  }

  /** The API server has checked the quantity; a claim without one asks for nothing special. */
  private static long requested(PersistentVolumeClaim object) {
    if (object.getSpec() == null
        || object.getSpec().getResources() == null
        || object.getSpec().getResources().getRequests() == null) {
      return 0;
    }
    Quantity storage = object.getSpec().getResources().getRequests().get("storage");
    return storage == null ? 0 : ByteQuantity.parse(storage.toString());
  }

  private static Map<String, String> orEmpty(@Nullable Map<String, String> map) {
    return map == null ? Map.of() : map;
  }
}
