package io.pmemcsi.operator.rollout.draining;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.ControllerRevision;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.VolumeAttachment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import io.pmemcsi.operator.facts.Paging;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.operator.usage.PodVolumes;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Reads the nodes of a driver and the consumers of its volumes from the API server. Nothing is
 * watched: only an update in progress needs it, and caches of all pods would cost memory all the
 * time.
 */
final class NodeSnapshotReader {

  private static final String REVISION = "controller-revision-hash";
  private static final String MIRROR = "kubernetes.io/config.mirror";

  private final KubernetesClient client;
  private final Clock clock;

  NodeSnapshotReader(KubernetesClient client, Clock clock) {
    this.client = client;
    this.clock = clock;
  }

  /** The nodes of a DaemonSet. */
  NodeSnapshot read(UpdateRequest request) {
    DaemonSet daemonSet = request.daemonSet();
    Optional<String> revision = revision(daemonSet);
    Map<String, List<Pod>> driverPods = driverPods(daemonSet);
    Map<String, List<VolumeConsumer>> consumers = consumers(request);
    Map<String, Set<String>> attachments = attachments(request.driver());
    Set<String> registered = registered(request.driver(), driverPods);
    var nodes = new ArrayList<WorkerNode>();
    for (Node node : nodes()) {
      String name = node.getMetadata().getName();
      Map<String, DrainAnnotation> annotations = annotations(node);
      var mounted = new TreeSet<>(attachments.getOrDefault(name, Set.of()));
      mounted.addAll(reported(request.driver(), node));
      nodes.add(
          new WorkerNode(
              name,
              node.getMetadata().getResourceVersion(),
              Readiness.getInstance().isReady(node),
              Placement.matches(daemonSet.getSpec().getTemplate().getSpec(), node),
              isCordoned(node),
              Optional.ofNullable(annotations.get(request.driver())),
              DrainAnnotation.sharedCordon(annotations, request.driver()),
              driverPods.getOrDefault(name, List.of()).stream()
                  .map(NodeSnapshotReader::driverPod)
                  .toList(),
              consumers.getOrDefault(name, List.of()),
              List.copyOf(mounted),
              registered.contains(name)));
    }
    return new NodeSnapshot(request.driver(), request.owner(), request.resource(), revision, nodes);
  }

  /** All nodes of the cluster. */
  List<Node> nodes() {
    return Paging.fold(
        client.nodes()::list,
        ArrayList::new,
        (result, page) -> {
          result.addAll(page);
          return result;
        });
  }

  static Map<String, DrainAnnotation> annotations(Node node) {
    Map<String, String> annotations = node.getMetadata().getAnnotations();
    return annotations == null ? Map.of() : DrainAnnotation.of(annotations);
  }

  static boolean isCordoned(Node node) {
    return node.getSpec() != null && Boolean.TRUE.equals(node.getSpec().getUnschedulable());
  }

  /** The newest one, once the DaemonSet controller observed the newest template. */
  private Optional<String> revision(DaemonSet daemonSet) {
    Long observed =
        daemonSet.getStatus() == null ? null : daemonSet.getStatus().getObservedGeneration();
    if (observed == null || observed < daemonSet.getMetadata().getGeneration()) {
      return Optional.empty();
    }
    return client
        .apps()
        .controllerRevisions()
        .inNamespace(daemonSet.getMetadata().getNamespace())
        .withLabelSelector(daemonSet.getSpec().getSelector())
        .list()
        .getItems()
        .stream()
        .filter(revision -> isOwnedBy(daemonSet, revision.getMetadata()))
        .max(Comparator.comparing(ControllerRevision::getRevision))
        .map(revision -> label(revision.getMetadata(), REVISION));
  }

  private Map<String, List<Pod>> driverPods(DaemonSet daemonSet) {
    return client
        .pods()
        .inNamespace(daemonSet.getMetadata().getNamespace())
        .withLabelSelector(daemonSet.getSpec().getSelector())
        .list()
        .getItems()
        .stream()
        .filter(pod -> isOwnedBy(daemonSet, pod.getMetadata()))
        .filter(pod -> pod.getSpec().getNodeName() != null)
        .collect(Collectors.groupingBy(pod -> pod.getSpec().getNodeName()));
  }

  private static DriverPod driverPod(Pod pod) {
    return new DriverPod(
        pod.getMetadata().getNamespace(),
        pod.getMetadata().getName(),
        pod.getMetadata().getUid(),
        label(pod.getMetadata(), REVISION),
        Readiness.isPodReady(pod),
        pod.getMetadata().getDeletionTimestamp() != null);
  }

  /** Volumes name their claim, so claims need not be read. */
  private Map<String, List<VolumeConsumer>> consumers(UpdateRequest request) {
    Set<String> claims = claims(request.driver());
    Instant now = clock.instant();
    return Paging.fold(
        client.pods().inAnyNamespace()::list,
        HashMap::new,
        (result, page) -> {
          for (Pod pod : page) {
            if (pod.getSpec().getNodeName() != null
                && !isOwnedBy(request.daemonSet(), pod.getMetadata())
                && PodVolumes.mayBeMounted(pod, now)
                && uses(request.driver(), claims, pod)) {
              result
                  .computeIfAbsent(pod.getSpec().getNodeName(), node -> new ArrayList<>())
                  .add(consumer(pod));
            }
          }
          return result;
        });
  }

  private Set<String> claims(String driver) {
    return Paging.fold(
        client.persistentVolumes()::list,
        HashSet::new,
        (result, page) -> {
          for (PersistentVolume volume : page) {
            var claim = volume.getSpec().getClaimRef();
            if (claim != null && DriverUsage.isOf(driver, volume)) {
              result.add(claim.getNamespace() + "/" + claim.getName());
            }
          }
          return result;
        });
  }

  static boolean uses(String driver, Set<String> claims, Pod pod) {
    String namespace = pod.getMetadata().getNamespace();
    return DriverUsage.hasInline(driver, pod)
        || pod.getSpec().getVolumes().stream()
            .map(
                volume ->
                    volume.getPersistentVolumeClaim() != null
                        ? volume.getPersistentVolumeClaim().getClaimName()
                        : volume.getEphemeral() != null
                            ? pod.getMetadata().getName() + "-" + volume.getName()
                            : null)
            .filter(Objects::nonNull)
            .anyMatch(claim -> claims.contains(namespace + "/" + claim));
  }

  static VolumeConsumer consumer(Pod pod) {
    ObjectMeta metadata = pod.getMetadata();
    return new VolumeConsumer(
        metadata.getNamespace(),
        metadata.getName(),
        metadata.getUid(),
        origin(metadata),
        metadata.getDeletionTimestamp() != null || PodVolumes.isFinished(pod));
  }

  private static VolumeConsumer.Origin origin(ObjectMeta pod) {
    if (pod.getAnnotations() != null && pod.getAnnotations().containsKey(MIRROR)) {
      return VolumeConsumer.Origin.STATIC;
    }
    return pod.getOwnerReferences().stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .findFirst()
        .map(
            owner ->
                owner.getKind().equals("DaemonSet")
                    ? VolumeConsumer.Origin.DAEMON_SET
                    : VolumeConsumer.Origin.CONTROLLER)
        .orElse(VolumeConsumer.Origin.UNMANAGED);
  }

  private Map<String, Set<String>> attachments(String driver) {
    return Paging.fold(
        client.storage().v1().volumeAttachments()::list,
        HashMap::new,
        (result, page) -> {
          for (VolumeAttachment attachment : page) {
            if (driver.equals(attachment.getSpec().getAttacher())) {
              result
                  .computeIfAbsent(attachment.getSpec().getNodeName(), node -> new TreeSet<>())
                  .add("VolumeAttachment " + attachment.getMetadata().getName());
            }
          }
          return result;
        });
  }

  /** The volumes in the status of the node: mounted or attached. */
  static Set<String> reported(String driver, Node node) {
    var result = new TreeSet<String>();
    if (node.getStatus() == null) {
      return result;
    }
    String prefix = "kubernetes.io/csi/" + driver + "^";
    node.getStatus().getVolumesInUse().stream()
        .filter(volume -> volume.startsWith(prefix))
        .forEach(volume -> result.add("volume " + volume.substring(prefix.length())));
    node.getStatus().getVolumesAttached().stream()
        .filter(volume -> volume.getName().startsWith(prefix))
        .forEach(volume -> result.add("volume " + volume.getName().substring(prefix.length())));
    return result;
  }

  private Set<String> registered(String driver, Map<String, List<Pod>> driverPods) {
    Instant now = clock.instant();
    return Paging.fold(
        client.storage().v1().csiNodes()::list,
        HashSet::new,
        (result, page) -> {
          for (CSINode node : page) {
            String name = node.getMetadata().getName();
            List<Pod> pods = driverPods.getOrDefault(name, List.of());
            if (Registration.isOf(pods, driver, node, now)) {
              result.add(name);
            }
          }
          return result;
        });
  }

  private static boolean isOwnedBy(DaemonSet daemonSet, ObjectMeta object) {
    String uid = daemonSet.getMetadata().getUid();
    return object.getOwnerReferences().stream().map(OwnerReference::getUid).anyMatch(uid::equals);
  }

  private static String label(ObjectMeta object, String name) {
    Map<String, String> labels = object.getLabels();
    return labels == null ? "" : labels.getOrDefault(name, "");
  }
}
