package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KubernetesResourceList;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.operator.facts.Paging;
import io.pmemcsi.operator.kinds.Kinds;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads a cluster once, page by page, and keeps what belongs to drivers of the operator: a cluster
 * may have more pods than fit into memory.
 */
public record ClusterReader(KubernetesClient client) {

  private static final List<String> CAPACITY_VERSIONS = List.of("v1", "v1beta1", "v1alpha1");

  private static final ResourceDefinitionContext SNAPSHOTS =
      new ResourceDefinitionContext.Builder()
          .withGroup("snapshot.storage.k8s.io")
          .withVersion("v1")
          .withKind("VolumeSnapshotContent")
          .withPlural("volumesnapshotcontents")
          .withNamespaced(false)
          .build();

  /**
   * The reports of all drivers, ordered by name.
   *
   * @param driver only this one; empty for all
   */
  public List<DriverReport> reports(String driver) {
    ClusterData cluster = read(driver);
    return DriverReport.of(
        cluster.with(new MetricsReader(client).read(NodeMetrics.needed(cluster))));
  }

  private ClusterData read(String driver) {
    List<GenericKubernetesResource> resources =
        Kinds.offline().all().stream()
            .map(kind -> ResourceDefinitionContext.fromResourceType(kind.traits().type()))
            .flatMap(kind -> list(kind, _ -> true).stream())
            .filter(one -> driver.isEmpty() || driver.equals(new ResourceStatus(one).driver()))
            .toList();
    Set<String> drivers =
        resources.stream()
            .map(resource -> new ResourceStatus(resource).driver())
            .collect(Collectors.toSet());
    List<StorageClass> classes =
        pages(
            options -> client.storage().v1().storageClasses().list(options),
            one -> drivers.contains(one.getProvisioner()));
    Set<String> classNames = names(classes);
    List<PersistentVolume> volumes =
        pages(
            options -> client.persistentVolumes().list(options),
            volume -> drivers.stream().anyMatch(one -> VolumeReport.isOf(one, volume)));
    Set<String> volumeNames = names(volumes);
    return new ClusterData(
        resources,
        pages(options -> client.storage().v1().csiNodes().list(options), _ -> true),
        capacities(one -> classNames.contains(Fields.text(one.get("storageClassName")))),
        classes,
        volumes,
        pages(
            options -> client.persistentVolumeClaims().inAnyNamespace().list(options),
            claim ->
                classNames.contains(Fields.text(claim.getSpec().getStorageClassName()))
                    || volumeNames.contains(Fields.text(claim.getSpec().getVolumeName()))),
        pages(
            options -> client.pods().inAnyNamespace().list(options),
            pod ->
                hasVolumes(pod)
                    || resources.stream().anyMatch(one -> new ResourceStatus(one).isNodePod(pod))),
        list(SNAPSHOTS, one -> drivers.contains(Fields.text(one.get("spec", "driver")))),
        Stream.of("PersistentVolume", "PersistentVolumeClaim").flatMap(this::warnings).toList(),
        Map.of());
  }

  /** Volumes that a driver of the operator may serve. */
  private static boolean hasVolumes(Pod pod) {
    return pod.getSpec().getVolumes().stream()
        .anyMatch(
            volume ->
                volume.getPersistentVolumeClaim() != null
                    || volume.getEphemeral() != null
                    || volume.getCsi() != null);
  }

  private static Set<String> names(List<? extends HasMetadata> objects) {
    return objects.stream()
        .map(object -> object.getMetadata().getName())
        .collect(Collectors.toSet());
  }

  private static <T extends HasMetadata> List<T> pages(
      Function<ListOptions, ? extends KubernetesResourceList<T>> list, Predicate<T> kept) {
    return Paging.<T, List<T>>fold(
        list,
        ArrayList::new,
        (all, page) -> {
          for (T object : page) {
            if (kept.test(object)) {
              object.getMetadata().setManagedFields(List.of());
              all.add(object);
            }
          }
          return all;
        });
  }

  private Stream<Event> warnings(String kind) {
    return pages(
        options ->
            client
                .v1()
                .events()
                .inAnyNamespace()
                .withField("type", "Warning")
                .withField("involvedObject.kind", kind)
                .list(options),
        _ -> true)
        .stream();
  }

  private List<GenericKubernetesResource> capacities(Predicate<GenericKubernetesResource> kept) {
    for (String version : CAPACITY_VERSIONS) {
      List<GenericKubernetesResource> found =
          list(
              new ResourceDefinitionContext.Builder()
                  .withGroup("storage.k8s.io")
                  .withVersion(version)
                  .withKind("CSIStorageCapacity")
                  .withPlural("csistoragecapacities")
                  .withNamespaced(true)
                  .build(),
              kept);
      if (!found.isEmpty()) {
        return found;
      }
    }
    return List.of();
  }

  /** Nothing where the server does not serve the kind. */
  private List<GenericKubernetesResource> list(
      ResourceDefinitionContext kind, Predicate<GenericKubernetesResource> kept) {
    try {
      return pages(
          options -> client.genericKubernetesResources(kind).inAnyNamespace().list(options), kept);
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return List.of();
      }
      throw e;
    }
  }
}
