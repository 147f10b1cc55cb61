package io.pmemcsi.operator.usage;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.VolumeAttachment;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What would lose data or hang without a driver. Generic ephemeral volumes are claims with
 * persistent volumes, and counted as such.
 *
 * @param driver the name of the CSI driver
 * @param volumes persistent volumes, claimed or not
 * @param attachments of volumes to nodes
 * @param pods with inline volumes of the driver that may still be mounted
 * @param snapshots of volumes, whether the volumes exist or not
 */
public record DriverUsage(
    String driver,
    SampledCount volumes,
    SampledCount attachments,
    SampledCount pods,
    SampledCount snapshots) {

  /** Set on volumes of an in-tree plugin that were migrated to a CSI driver. */
  private static final String MIGRATED_TO = "pv.kubernetes.io/migrated-to";

  /** No usage. */
  public static DriverUsage none(String driver) {
    return new DriverUsage(
        driver, SampledCount.NONE, SampledCount.NONE, SampledCount.NONE, SampledCount.NONE);
  }

  /** Counts the objects that use the driver. */
  public static DriverUsage of(
      String driver,
      List<PersistentVolume> volumes,
      List<VolumeAttachment> attachments,
      List<Pod> pods,
      List<GenericKubernetesResource> snapshots,
      Instant now) {
    return new DriverUsage(
        driver,
        SampledCount.of(
            volumes.stream()
                .filter(volume -> isOf(driver, volume))
                .map(DriverUsage::name)
                .toList()),
        SampledCount.of(
            attachments.stream()
                .filter(attachment -> driver.equals(attachment.getSpec().getAttacher()))
                .map(DriverUsage::name)
                .toList()),
        SampledCount.of(
            pods.stream()
                .filter(pod -> hasInline(driver, pod) && PodVolumes.mayBeMounted(pod, now))
                .map(pod -> pod.getMetadata().getNamespace() + "/" + pod.getMetadata().getName())
                .toList()),
        SampledCount.of(
            snapshots.stream()
                .filter(content -> driver.equals(content.get("spec", "driver")))
                .map(DriverUsage::name)
                .toList()));
  }

  /** The sum of two parts. */
  public DriverUsage and(DriverUsage other) {
    if (!driver.equals(other.driver)) {
      throw new IllegalArgumentException(
          "usage of %s and of %s cannot be added".formatted(driver, other.driver));
    }
    return new DriverUsage(
        driver,
        volumes.and(other.volumes),
        attachments.and(other.attachments),
        pods.and(other.pods),
        snapshots.and(other.snapshots));
  }

  public boolean isUsed() {
    return count() > 0;
  }

  /** How many objects use the driver. */
  public int count() {
    return volumes.count() + attachments.count() + pods.count() + snapshots.count();
  }

  /** Such as {@code 1 PersistentVolume (pv-1 of claim a/b)}. */
  public String describe() {
    var parts = new ArrayList<String>();
    if (volumes.count() > 0) {
      parts.add(volumes.describe("PersistentVolume", "PersistentVolumes"));
    }
    if (attachments.count() > 0) {
      parts.add(attachments.describe("VolumeAttachment", "VolumeAttachments"));
    }
    if (pods.count() > 0) {
      parts.add(pods.describe("pod with an inline volume", "pods with inline volumes"));
    }
    if (snapshots.count() > 0) {
      parts.add(snapshots.describe("VolumeSnapshotContent", "VolumeSnapshotContents"));
    }
    return parts.isEmpty() ? "nothing" : String.join(", ", parts);
  }

  /** Whether a pod has an inline volume of the driver. */
  public static boolean hasInline(String driver, Pod pod) {
    return pod.getSpec() != null
        && pod.getSpec().getVolumes().stream()
            .anyMatch(
                volume -> volume.getCsi() != null && driver.equals(volume.getCsi().getDriver()));
  }

  /** Whether the driver serves a volume, natively or by migration. */
  public static boolean isOf(String driver, PersistentVolume volume) {
    if (volume.getSpec() != null && volume.getSpec().getCsi() != null) {
      return driver.equals(volume.getSpec().getCsi().getDriver());
    }
    Map<String, String> annotations = volume.getMetadata().getAnnotations();
    return annotations != null && driver.equals(annotations.get(MIGRATED_TO));
  }

  private static String name(PersistentVolume volume) {
    var claim = volume.getSpec().getClaimRef();
    String name = volume.getMetadata().getName();
    return claim == null
        ? name
        : "%s of claim %s/%s".formatted(name, claim.getNamespace(), claim.getName());
  }

  private static String name(GenericKubernetesResource content) {
    String name = content.getMetadata().getName();
    return content.get("spec", "volumeSnapshotRef") instanceof Map<?, ?> snapshot
        ? "%s of snapshot %s/%s".formatted(name, snapshot.get("namespace"), snapshot.get("name"))
        : name;
  }

  private static String name(VolumeAttachment attachment) {
    String volume = attachment.getSpec().getSource().getPersistentVolumeName();
    return "%s to node %s"
        .formatted(
            volume == null ? attachment.getMetadata().getName() : volume,
            attachment.getSpec().getNodeName());
  }
}
