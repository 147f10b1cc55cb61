package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads a cluster once. */
public record ClusterReader(KubernetesClient client) {

  private static final List<Class<? extends HasMetadata>> KINDS =
      List.of(PmemCSIDeployment.class, LegacyDeployment.class, CSIDriverDeployment.class);

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
    return DriverReport.of(read()).stream()
        .filter(report -> driver.isEmpty() || report.driver().equals(driver))
        .toList();
  }

  private ClusterData read() {
    var resources = new ArrayList<GenericKubernetesResource>();
    KINDS.forEach(kind -> resources.addAll(list(ResourceDefinitionContext.fromResourceType(kind))));
    return new ClusterData(
        resources,
        client.storage().v1().csiNodes().list().getItems(),
        capacities(),
        client.storage().v1().storageClasses().list().getItems(),
        client.persistentVolumes().list().getItems(),
        client.persistentVolumeClaims().inAnyNamespace().list().getItems(),
        client.pods().inAnyNamespace().list().getItems(),
        list(SNAPSHOTS),
        Stream.of("PersistentVolume", "PersistentVolumeClaim").flatMap(this::warnings).toList());
  }

  private Stream<Event> warnings(String kind) {
    return client
        .v1()
        .events()
        .inAnyNamespace()
        .withField("type", "Warning")
        .withField("involvedObject.kind", kind)
        .list()
        .getItems()
        .stream();
  }

  private List<GenericKubernetesResource> capacities() {
    for (String version : CAPACITY_VERSIONS) {
      List<GenericKubernetesResource> found =
          list(
              new ResourceDefinitionContext.Builder()
                  .withGroup("storage.k8s.io")
                  .withVersion(version)
                  .withKind("CSIStorageCapacity")
                  .withPlural("csistoragecapacities")
                  .withNamespaced(true)
                  .build());
      if (!found.isEmpty()) {
        return found;
      }
    }
    return List.of();
  }

  /** Nothing where the server does not serve the kind. */
  private List<GenericKubernetesResource> list(ResourceDefinitionContext kind) {
    try {
      return client.genericKubernetesResources(kind).inAnyNamespace().list().getItems();
    } catch (KubernetesClientException e) {
      if (e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
        return List.of();
      }
      throw e;
    }
  }
}
