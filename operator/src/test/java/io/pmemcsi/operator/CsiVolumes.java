package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.storage.VolumeAttachment;
import io.fabric8.kubernetes.api.model.storage.VolumeAttachmentBuilder;
import java.util.Map;

/** Objects that show that a driver is in use. */
public final class CsiVolumes {

  private CsiVolumes() {}

  /** Retained when its claim is deleted: no provisioner runs that could delete it. */
  public static PersistentVolume volume(String name, String driver) {
    return new PersistentVolumeBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withCapacity(Map.of("storage", new Quantity("1Gi")))
        .withAccessModes("ReadWriteOnce")
        .withPersistentVolumeReclaimPolicy("Retain")
        .withNewCsi()
        .withDriver(driver)
        .withVolumeHandle(name)
        .endCsi()
        .endSpec()
        .build();
  }

  public static VolumeAttachment attachment(String volume, String driver, String node) {
    return new VolumeAttachmentBuilder()
        .withNewMetadata()
        .withName(volume + "-" + node)
        .endMetadata()
        .withNewSpec()
        .withAttacher(driver)
        .withNodeName(node)
        .withNewSource()
        .withPersistentVolumeName(volume)
        .endSource()
        .endSpec()
        .build();
  }
}
