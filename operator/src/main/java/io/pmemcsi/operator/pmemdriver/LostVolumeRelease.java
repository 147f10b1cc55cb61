package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.operator.facts.Refusal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the claims of volumes on deleted nodes, and the volumes with reclaim policy Delete. Each
 * request names uid and version of what was read a moment ago, after the node was read.
 */
public final class LostVolumeRelease {

  private static final Logger LOG = LoggerFactory.getLogger(LostVolumeRelease.class);

  /** The provisioner of the deleted node would remove it after the volume was deleted there. */
  private static final String FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";

  private final KubernetesClient client;

  public LostVolumeRelease(KubernetesClient client) {
    this.client = client;
  }

  /**
   * Releases each volume, whatever becomes of the others.
   *
   * @return why some could not be released
   */
  public List<String> release(List<LostVolume> due) {
    return due.stream().flatMap(lost -> failure(lost).stream()).toList();
  }

  private Optional<String> failure(LostVolume lost) {
    try {
      release(lost);
      return Optional.empty();
    } catch (KubernetesClientException e) {
      if (e.getCode() == 0) {
        // no answer: that is not about this volume
        throw e;
      }
      String reason = Refusal.reason(e);
      LOG.atWarn()
          .addKeyValue("volume", lost.name())
          .addKeyValue("node", lost.node())
          .addKeyValue("cause", reason)
          .log("A volume of a deleted node cannot be released.");
      return Optional.of("volume %s: %s".formatted(lost.name(), reason));
    }
  }

  private void release(LostVolume lost) {
    PersistentVolume volume = client.persistentVolumes().withName(lost.name()).get();
    if (volume == null
        || !volume.getMetadata().getUid().equals(lost.uid())
        || client.nodes().withName(lost.node()).get() != null) {
      return;
    }
    lost.claim().ifPresent(claim -> delete(claim, lost));
    if (lost.isDeletedWithClaim()) {
      if (volume.getMetadata().getDeletionTimestamp() == null) {
        delete(volume);
        LOG.atInfo()
            .addKeyValue("volume", lost.name())
            .addKeyValue("node", lost.node())
            .log("Deleted a PersistentVolume of a deleted node.");
      }
      removeFinalizer(lost);
    }
  }

  private void delete(ObjectReference reference, LostVolume lost) {
    PersistentVolumeClaim claim =
        client
            .persistentVolumeClaims()
            .inNamespace(reference.getNamespace())
            .withName(reference.getName())
            .get();
    if (claim != null
        && claim.getMetadata().getUid().equals(reference.getUid())
        && claim.getMetadata().getDeletionTimestamp() == null) {
      delete(claim);
      LOG.atInfo()
          .addKeyValue("claim", reference.getNamespace() + "/" + reference.getName())
          .addKeyValue("volume", lost.name())
          .addKeyValue("node", lost.node())
          .log("Deleted the claim of a volume on a deleted node.");
    }
  }

  /** Only the version that was read. */
  private void delete(HasMetadata object) {
    client.resource(object).lockResourceVersion().delete();
  }

  private void removeFinalizer(LostVolume lost) {
    PersistentVolume volume = client.persistentVolumes().withName(lost.name()).get();
    if (volume == null
        || !volume.getMetadata().getUid().equals(lost.uid())
        || !volume.getMetadata().getFinalizers().contains(FINALIZER)) {
      return;
    }
    List<String> others =
        volume.getMetadata().getFinalizers().stream()
            .filter(finalizer -> !finalizer.equals(FINALIZER))
            .toList();
    var patch =
        Map.of(
            "metadata",
            Map.of(
                "uid", lost.uid(),
                "resourceVersion", volume.getMetadata().getResourceVersion(),
                "finalizers", others));
    client
        .resource(volume)
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            client.getKubernetesSerialization().asJson(patch));
  }
}
