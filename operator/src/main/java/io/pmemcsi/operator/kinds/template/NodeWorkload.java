package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetUpdateStrategy;
import io.fabric8.kubernetes.api.model.apps.DaemonSetUpdateStrategyBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The driver on every node: the user's template, its socket shown to the kubelet. */
record NodeWorkload(TemplateDriver driver) {

  private static final String KUBELET_VOLUME = "kubelet-root";

  List<String> clashes() {
    var containers = new ArrayList<>(List.of(SidecarContainers.REGISTRAR));
    Optional<Integer> port = Optional.empty();
    if (driver.settings().probePeriodSeconds().isPresent()) {
      containers.add(SidecarContainers.PROBE);
      port = Optional.of(LivenessProbe.nodePort(driver.settings()));
    }
    return new TemplateConflicts(
            "spec.driverPerNodeTemplate",
            List.of(
                SidecarContainers.REGISTRATION_VOLUME,
                SidecarContainers.SOCKET_VOLUME,
                KUBELET_VOLUME),
            containers,
            List.of(driver.socketFolder(), driver.config().kubeletRootDir()),
            port,
            Map.entry(TemplateDriver.NODE_LABEL, driver.nodeWorkload()))
        .find(driver.settings().nodeTemplate());
  }

  Optional<String> ownAccount() {
    return PodTemplate.account(driver.settings().nodeTemplate());
  }

  DaemonSet daemonSet() {
    Map<String, String> selector = Map.of(TemplateDriver.NODE_LABEL, driver.nodeWorkload());
    return new DaemonSetBuilder()
        .withMetadata(driver.namespaced(driver.nodeWorkload()))
        .withNewSpec()
        .withNewSelector()
        .withMatchLabels(selector)
        .endSelector()
        .withUpdateStrategy(updateStrategy())
        .withTemplate(template(selector))
        .endSpec()
        .build();
  }

  /** Draining replaces the pods itself, so that nothing else may. */
  private DaemonSetUpdateStrategy updateStrategy() {
    return switch (driver.settings().nodeUpdateStrategy()) {
      case ROLLING ->
          new DaemonSetUpdateStrategyBuilder()
              .withType("RollingUpdate")
              .withNewRollingUpdate()
              .withMaxUnavailable(driver.settings().maxUnavailable())
              .endRollingUpdate()
              .build();
      case ON_DELETE, DRAINING -> new DaemonSetUpdateStrategyBuilder().withType("OnDelete").build();
    };
  }

  private PodTemplateSpec template(Map<String, String> labels) {
    PodTemplateSpec template =
        PodTemplate.prepared(
            driver.settings().nodeTemplate(), labels, Accounts.nodeAccount(driver));
    PodSpec pod = template.getSpec();
    Container first = pod.getContainers().getFirst();
    String kubelet = driver.config().kubeletRootDir();
    PodTemplate.addVolumes(
        pod,
        folder(SidecarContainers.REGISTRATION_VOLUME, kubelet + "/plugins_registry", "Directory"),
        folder(SidecarContainers.SOCKET_VOLUME, driver.hostFolder(), "DirectoryOrCreate"),
        folder(KUBELET_VOLUME, kubelet, "Directory"));
    PodTemplate.addMounts(
        first,
        new VolumeMountBuilder()
            .withName(SidecarContainers.SOCKET_VOLUME)
            .withMountPath(driver.socketFolder())
            .build(),
        new VolumeMountBuilder()
            .withName(KUBELET_VOLUME)
            .withMountPath(kubelet)
            .withMountPropagation("Bidirectional")
            .build());
    pod.getContainers().add(new SidecarContainers(driver).registrar(first));
    new LivenessProbe(driver).addTo(pod, LivenessProbe.nodePort(driver.settings()));
    return template;
  }

  private static Volume folder(String name, String path, String type) {
    return new VolumeBuilder()
        .withName(name)
        .withNewHostPath()
        .withPath(path)
        .withType(type)
        .endHostPath()
        .build();
  }
}
