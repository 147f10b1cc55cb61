package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.ContainerImages;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.sidecars.Sidecar;
import io.pmemcsi.operator.sidecars.Sidecars;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One driver in one cluster: what all of its objects are made from.
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

  /** By which the pods on the nodes are found. */
  static final String NODE_LABEL = DOMAIN + "/daemonset";

  /** By which the controller's pods are found. */
  static final String CONTROLLER_LABEL = DOMAIN + "/deployment";

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

  /** The folder of the socket as the driver sees it. */
  String socketFolder() {
    String socket = settings.driverSocket();
    return socket.substring(0, socket.lastIndexOf('/'));
  }

  String socketFile() {
    String socket = settings.driverSocket();
    return socket.substring(socket.lastIndexOf('/') + 1);
  }

  /** The same folder as the kubelet sees it. */
  String hostFolder() {
    return hostFolder(config, driverName());
  }

  static String hostFolder(OperatorConfig config, String driverName) {
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
        .orElseGet(() -> Sidecars.image(sidecar, facts.version()));
  }

  /** On every object, so that they can be found with kubectl. */
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
