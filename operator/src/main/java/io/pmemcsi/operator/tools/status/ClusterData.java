package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.CSINode;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Everything that reports are computed from.
 *
 * @param resources of all kinds that the operator reconciles
 * @param capacities CSIStorageCapacity objects of any version
 * @param snapshots VolumeSnapshotContent objects
 * @param warnings events about volumes and claims
 * @param metrics by namespace and name of the driver pod, where they could be read
 */
record ClusterData(
    List<GenericKubernetesResource> resources,
    List<CSINode> nodes,
    List<GenericKubernetesResource> capacities,
    List<StorageClass> classes,
    List<PersistentVolume> volumes,
    List<PersistentVolumeClaim> claims,
    List<Pod> pods,
    List<GenericKubernetesResource> snapshots,
    List<Event> warnings,
    Map<String, NodeMetrics> metrics) {

  ClusterData {
    resources = List.copyOf(resources);
    nodes = List.copyOf(nodes);
    capacities = List.copyOf(capacities);
    classes = List.copyOf(classes);
    volumes = List.copyOf(volumes);
    claims = List.copyOf(claims);
    pods = List.copyOf(pods);
    snapshots = List.copyOf(snapshots);
    warnings = List.copyOf(warnings);
    metrics = Map.copyOf(metrics);
  }

  /** The same with metrics. */
  ClusterData with(Map<String, NodeMetrics> found) {
    return new ClusterData(
        resources, nodes, capacities, classes, volumes, claims, pods, snapshots, warnings, found);
  }

  /**
   * The latest warning about an object.
   *
   * @param name with its namespace where it has one
   */
  Optional<String> warning(String kind, String name) {
    return warnings.stream()
        .filter(event -> kind.equals(event.getInvolvedObject().getKind()))
        .filter(event -> name.equals(name(event)))
        .max(Comparator.comparing(event -> Fields.text(event.getLastTimestamp())))
        .map(event -> Fields.text(event.getMessage()));
  }

  private static String name(Event event) {
    String namespace = event.getInvolvedObject().getNamespace();
    String name = event.getInvolvedObject().getName();
    return namespace == null || namespace.isEmpty() ? name : namespace + "/" + name;
  }
}
