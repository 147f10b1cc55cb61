package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.ContainerImages;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.Sidecar;
import io.pmemcsi.operator.objects.SidecarRelease;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One driver in one cluster: all of its objects are computed from this.
 *
 * @param namespace of the resource and of everything that lives in one
 * @param name of the resource, with which names begin
 */
record TemplateDriver(
    String namespace,
    String name,
    TemplateSettings settings,
    OperatorConfig config,
    ClusterFacts facts) {

  private static final String DOMAIN = CSIDriverDeployment.GROUP;

  /** Selects the pods on the nodes. */
  static final String NODE_LABEL = DOMAIN + "/daemonset";

  /** Selects the controller's pods. */
  static final String CONTROLLER_LABEL = DOMAIN + "/deployment";

  /** The driver of a resource, in the operator's namespace if the resource has none. */
  static TemplateDriver of(
      CSIDriverDeployment resource, OperatorConfig config, ClusterFacts facts) {
    String namespace = resource.getMetadata().getNamespace();
    return new TemplateDriver(
        namespace == null ? facts.namespace() : namespace,
        resource.getMetadata().getName(),
        TemplateSettings.of(resource),
        config,
        facts);
  }

  String driverName() {
    return settings.driver().value();
  }

  String nodeWorkload() {
    return nodeWorkload(name);
  }

  String controllerWorkload() {
    return controllerWorkload(name);
  }

  static String nodeWorkload(String name) {
    return name + "-node";
  }

  static String controllerWorkload(String name) {
    return name + "-controller";
  }

  /** The directory of the socket in the driver's container. */
  String socketDirectory() {
    String socket = settings.driverSocket();
    return socket.substring(0, socket.lastIndexOf('/'));
  }

  String socketFile() {
    String socket = settings.driverSocket();
    return socket.substring(socket.lastIndexOf('/') + 1);
  }

  /** The same directory on the node. */
  String hostDirectory() {
    return hostDirectory(config, driverName());
  }

  static String hostDirectory(OperatorConfig config, String driverName) {
    return config.kubeletRootDir() + "/plugins/" + driverName;
  }

  String image(Sidecar sidecar) {
    ContainerImages images = settings.containerImages();
    Optional<String> written =
        Written.text(
            switch (sidecar) {
              case PROVISIONER -> images.provisionerImage();
              case ATTACHER -> images.attacherImage();
              case REGISTRAR -> images.driverRegistrarImage();
              case LIVENESS_PROBE -> images.livenessProbeImage();
              case RESIZER -> images.resizerImage();
              case SNAPSHOTTER -> images.snapshotterImage();
            });
    return written
        .or(() -> Optional.ofNullable(config.images().get(sidecar)))
        .orElseGet(() -> release(sidecar).image());
  }

  SidecarRelease release(Sidecar sidecar) {
    return SidecarRelease.of(sidecar, facts.version());
  }

  /** The sidecars of the controller pod, in the documented order. */
  List<Sidecar> controllerSidecars() {
    var sidecars = new ArrayList<Sidecar>();
    if (settings.hasProvisioner()) {
      sidecars.add(Sidecar.PROVISIONER);
    }
    if (settings.hasAttacher()) {
      sidecars.add(Sidecar.ATTACHER);
    }
    if (settings.hasResizer()) {
      sidecars.add(Sidecar.RESIZER);
    }
    if (settings.hasSnapshotter()) {
      sidecars.add(Sidecar.SNAPSHOTTER);
    }
    return sidecars;
  }

  /** What a sidecar needs and the cluster does not have. */
  Optional<String> missingApi() {
    return settings.hasSnapshotter() && !facts.serves(ServedApi.SNAPSHOTS)
        ? Optional.of(
            "The server has no snapshot.storage.k8s.io/v1, without which csi-snapshotter does not"
                + " run: install the CRDs and the snapshot-controller of external-snapshotter, or"
                + " remove sidecars.snapshotter.")
        : Optional.empty();
  }

  boolean publishesCapacity() {
    return settings.hasProvisioner()
        && Boolean.TRUE.equals(settings.csiDriver().storageCapacity())
        && facts.serves(ServedApi.STORAGE_CAPACITY);
  }

  /** On every object, for kubectl. */
  Map<String, String> labels() {
    return new TreeMap<>(
        Map.of(DOMAIN + "/owner-namespace", namespace, DOMAIN + "/owner-name", name));
  }

  ObjectMeta namespaced(String objectName) {
    return new ObjectMetaBuilder()
        .withName(objectName)
        .withNamespace(namespace)
        .withLabels(labels())
        .build();
  }

  ObjectMeta clusterWide(String objectName) {
    return new ObjectMetaBuilder().withName(objectName).withLabels(labels()).build();
  }
}
