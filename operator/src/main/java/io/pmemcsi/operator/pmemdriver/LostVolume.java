package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.VolumeNodeAffinity;
import io.pmemcsi.base.names.DriverName;
import java.util.List;
import java.util.Optional;

/**
 * A PersistentVolume on a node that does not exist any more.
 *
 * @param node on which the volume is
 * @param claim that is bound to the volume
 * @param pods that use the claim, with their namespaces
 */
public record LostVolume(
    String name,
    String uid,
    String driver,
    String node,
    Optional<ObjectReference> claim,
    boolean isDeletedWithClaim,
    List<String> pods) {

  public LostVolume {
    pods = List.copyOf(pods);
  }

  /** From any volume that one node has; whether that node exists is not known here. */
  static Optional<LostVolume> of(PersistentVolume volume) {
    return node(volume)
        .map(
            node ->
                new LostVolume(
                    volume.getMetadata().getName(),
                    volume.getMetadata().getUid(),
                    volume.getSpec().getCsi().getDriver(),
                    node,
                    isBound(volume)
                        ? Optional.of(volume.getSpec().getClaimRef())
                        : Optional.empty(),
                    "Delete".equals(volume.getSpec().getPersistentVolumeReclaimPolicy()),
                    List.of()));
  }

  /** The one node of a volume of a PMEM-CSI driver, by the name of the driver's topology key. */
  static Optional<String> node(PersistentVolume volume) {
    var csi = volume.getSpec().getCsi();
    if (csi == null || !DriverName.isAllowed(csi.getDriver())) {
      return Optional.empty();
    }
    String key = new DriverName(csi.getDriver()).topologyKey();
    List<String> nodes =
        Optional.ofNullable(volume.getSpec().getNodeAffinity())
            .map(VolumeNodeAffinity::getRequired)
            .stream()
            .flatMap(required -> required.getNodeSelectorTerms().stream())
            .flatMap(term -> term.getMatchExpressions().stream())
            .filter(expression -> expression.getKey().equals(key))
            .map(NodeSelectorRequirement::getValues)
            .flatMap(List::stream)
            .distinct()
            .toList();
    return nodes.size() == 1 ? Optional.of(nodes.getFirst()) : Optional.empty();
  }

  private static boolean isBound(PersistentVolume volume) {
    return volume.getSpec().getClaimRef() != null
        && volume.getStatus() != null
        && "Bound".equals(volume.getStatus().getPhase());
  }

  Optional<String> claimName() {
    return claim.map(ref -> ref.getNamespace() + "/" + ref.getName());
  }

  LostVolume usedBy(List<String> users) {
    return new LostVolume(name, uid, driver, node, claim, isDeletedWithClaim, users);
  }
}
