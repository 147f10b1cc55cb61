package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.NodeSelectorRequirement;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.pmemcsi.operator.usage.PodVolumes;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A volume of the driver, or a claim that waits for one.
 *
 * @param name of the PersistentVolume; of an inline volume the pod and the name in the pod; empty
 *     for a claim that waits
 * @param id of the volume in the driver; empty for an inline volume and a claim that waits
 * @param phase of the PersistentVolume or claim; Inline, or Pending until its pod starts
 * @param claim namespace and name; empty for a volume without a claim
 * @param pods that use the volume
 * @param node empty as long as no node is chosen
 * @param deletedWithClaim whether the volume is deleted after its claim
 * @param since when the phase began; empty where the server does not say that
 */
public record VolumeReport(
    String name,
    String id,
    String phase,
    long bytes,
    String claim,
    List<String> pods,
    String node,
    boolean deletedWithClaim,
    String since) {

  private static final String SELECTED_NODE = "volume.kubernetes.io/selected-node";

  /** How calls end while a large volume is erased: the next one resumes. */
  private static final List<String> STILL_WORKING =
      List.of("code = Aborted", "code = Canceled", "code = DeadlineExceeded");

  private static final String INLINE = "Inline";
  private static final String PENDING = "Pending";
  private static final String RELEASED = "Released";

  public VolumeReport {
    pods = List.copyOf(pods);
  }

  static List<VolumeReport> of(String driver, ClusterData cluster) {
    return Stream.of(volumes(driver, cluster), inline(driver, cluster), waiting(driver, cluster))
        .flatMap(volumes -> volumes)
        .sorted(
            Comparator.comparing(VolumeReport::node)
                .thenComparing(VolumeReport::claim)
                .thenComparing(VolumeReport::name))
        .toList();
  }

  /** Whether memory is used for it, as far as the API shows that. */
  boolean exists() {
    return !name.isEmpty() && !phase.equals(PENDING);
  }

  boolean isBeingDeleted() {
    return phase.equals(RELEASED) && deletedWithClaim;
  }

  boolean isOf(PersistentVolumeClaim other) {
    return claim.equals(name(other.getMetadata()));
  }

  /** What a human must do about it. */
  Optional<String> problem(ClusterData cluster) {
    return switch (phase) {
      case "Failed" ->
          Optional.of("Volume %s cannot be deleted: kubectl describe pv %s".formatted(name, name));
      case RELEASED ->
          deletedWithClaim
              ? cluster
                  .warning("PersistentVolume", name)
                  .filter(message -> STILL_WORKING.stream().noneMatch(message::contains))
                  .map(message -> "Volume %s is not deleted yet: %s".formatted(name, message))
              : Optional.of(
                  "Volume %s is kept after its claim %s was deleted: delete it if its data is not needed"
                      .formatted(name, claim));
      case PENDING ->
          // a new PersistentVolume is Pending for a moment, too
          pods.isEmpty() || !name.isEmpty()
              ? Optional.empty()
              : Optional.of(
                  "Claim %s waits for a volume: %s"
                      .formatted(
                          claim,
                          cluster
                              .warning("PersistentVolumeClaim", claim)
                              .orElse("its events say why")));
      default -> Optional.empty();
    };
  }

  private static Stream<VolumeReport> volumes(String driver, ClusterData cluster) {
    return cluster.volumes().stream()
        .filter(volume -> isOf(driver, volume))
        .map(
            volume -> {
              var claim = volume.getSpec().getClaimRef();
              var status = volume.getStatus();
              return new VolumeReport(
                  volume.getMetadata().getName(),
                  Fields.text(volume.getSpec().getCsi().getVolumeHandle()),
                  status == null ? "" : Fields.text(status.getPhase()),
                  Fields.bytes(volume.getSpec().getCapacity().get("storage")),
                  claim == null ? "" : claim.getNamespace() + "/" + claim.getName(),
                  claim == null ? List.of() : pods(claim.getNamespace(), claim.getName(), cluster),
                  nodeOf(volume, driver),
                  "Delete".equals(volume.getSpec().getPersistentVolumeReclaimPolicy()),
                  status == null ? "" : Fields.text(status.getLastPhaseTransitionTime()));
            });
  }

  static boolean isOf(String driver, PersistentVolume volume) {
    return volume.getSpec().getCsi() != null
        && driver.equals(volume.getSpec().getCsi().getDriver());
  }

  /** CSI ephemeral inline volumes: only their pods show that they exist. */
  private static Stream<VolumeReport> inline(String driver, ClusterData cluster) {
    return cluster.pods().stream()
        .filter(pod -> !PodVolumes.isFinished(pod))
        .flatMap(
            pod ->
                pod.getSpec().getVolumes().stream()
                    .filter(
                        volume ->
                            volume.getCsi() != null && driver.equals(volume.getCsi().getDriver()))
                    .map(volume -> inline(pod, volume)));
  }

  private static VolumeReport inline(Pod pod, Volume volume) {
    Map<String, String> attributes = volume.getCsi().getVolumeAttributes();
    String size = attributes == null ? "" : attributes.getOrDefault("size", "");
    boolean starting =
        pod.getStatus() == null
            || pod.getStatus().getPhase() == null
            || pod.getStatus().getPhase().equals(PENDING);
    return new VolumeReport(
        name(pod.getMetadata()) + ":" + volume.getName(),
        "",
        starting ? PENDING : INLINE,
        Fields.bytes(size),
        "",
        List.of(pod.getMetadata().getName()),
        Fields.text(pod.getSpec().getNodeName()),
        false,
        "");
  }

  private static Stream<VolumeReport> waiting(String driver, ClusterData cluster) {
    return cluster.claims().stream()
        .filter(claim -> claim.getStatus() != null && PENDING.equals(claim.getStatus().getPhase()))
        .filter(
            claim ->
                cluster.classes().stream()
                    .anyMatch(
                        storageClass ->
                            driver.equals(storageClass.getProvisioner())
                                && storageClass
                                    .getMetadata()
                                    .getName()
                                    .equals(claim.getSpec().getStorageClassName())))
        .map(
            claim -> {
              ObjectMeta metadata = claim.getMetadata();
              return new VolumeReport(
                  "",
                  "",
                  PENDING,
                  Fields.bytes(request(claim)),
                  name(metadata),
                  pods(metadata.getNamespace(), metadata.getName(), cluster),
                  metadata.getAnnotations() == null
                      ? ""
                      : metadata.getAnnotations().getOrDefault(SELECTED_NODE, ""),
                  false,
                  "");
            });
  }

  static @Nullable Quantity request(PersistentVolumeClaim claim) {
    var resources = claim.getSpec().getResources();
    return resources == null || resources.getRequests() == null
        ? null
        : resources.getRequests().get("storage");
  }

  static String name(ObjectMeta metadata) {
    return metadata.getNamespace() + "/" + metadata.getName();
  }

  private static List<String> pods(String namespace, String claim, ClusterData cluster) {
    return cluster.pods().stream()
        .filter(pod -> namespace.equals(pod.getMetadata().getNamespace()))
        .filter(pod -> uses(pod, claim))
        .map(pod -> pod.getMetadata().getName())
        .sorted()
        .toList();
  }

  private static boolean uses(Pod pod, String claim) {
    return pod.getSpec().getVolumes().stream()
        .anyMatch(
            volume ->
                (volume.getPersistentVolumeClaim() != null
                        && claim.equals(volume.getPersistentVolumeClaim().getClaimName()))
                    || (volume.getEphemeral() != null
                        && claim.equals(pod.getMetadata().getName() + "-" + volume.getName())));
  }

  /** Drivers whose volumes are in zones have no value under this key. */
  private static String nodeOf(PersistentVolume volume, String driver) {
    var affinity = volume.getSpec().getNodeAffinity();
    if (affinity == null || affinity.getRequired() == null) {
      return "";
    }
    return affinity.getRequired().getNodeSelectorTerms().stream()
        .flatMap(term -> term.getMatchExpressions().stream())
        .filter(expression -> topologyKey(driver).equals(expression.getKey()))
        .map(NodeSelectorRequirement::getValues)
        .flatMap(List::stream)
        .findFirst()
        .orElse("");
  }

  /** Under which PMEM-CSI publishes the node of a volume. */
  static String topologyKey(String driver) {
    return driver + "/node";
  }
}
