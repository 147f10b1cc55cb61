package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetUpdateStrategy;
import io.fabric8.kubernetes.api.model.apps.DaemonSetUpdateStrategyBuilder;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Sidecar;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The driver on every node: the user's template, with its socket registered at the kubelet. */
record NodeWorkload(TemplateDriver driver) {

  private static final String KUBELET_VOLUME = "kubelet-root";

  List<String> conflicts() {
    var containers = new ArrayList<>(List.of(SidecarContainers.name(Sidecar.REGISTRAR)));
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
            List.of(driver.socketDirectory(), driver.config().kubeletRootDir()),
            port,
            Map.entry(TemplateDriver.NODE_LABEL, driver.nodeWorkload()))
        .find(driver.settings().nodeTemplate());
  }

  Optional<String> ownAccount() {
    return PodTemplate.account(driver.settings().nodeTemplate());
  }

  DaemonSet daemonSet() {
    return new DaemonSetBuilder()
        .withMetadata(driver.namespaced(driver.nodeWorkload()))
        .withSpec(spec())
        .build();
  }

  private DaemonSetSpec spec() {
    Map<String, String> selector = Map.of(TemplateDriver.NODE_LABEL, driver.nodeWorkload());
    return new DaemonSetSpecBuilder()
        .withSelector(new LabelSelectorBuilder().withMatchLabels(selector).build())
        .withUpdateStrategy(updateStrategy())
        .withTemplate(template(selector))
        .build();
  }

  /** Draining replaces the pods itself, so nothing else may. */
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
    addTo(template.getSpec());
    return template;
  }

  private void addTo(PodSpec pod) {
    Container first = pod.getContainers().getFirst();
    String kubelet = driver.config().kubeletRootDir();
    PodTemplate.addVolumes(
        pod,
        Pods.hostDirectory(SidecarContainers.REGISTRATION_VOLUME, kubelet + "/plugins_registry"),
        Pods.hostDirectoryOrCreate(SidecarContainers.SOCKET_VOLUME, driver.hostDirectory()),
        Pods.hostDirectory(KUBELET_VOLUME, kubelet));
    PodTemplate.addMounts(
        first,
        Pods.mount(SidecarContainers.SOCKET_VOLUME, driver.socketDirectory()),
        Pods.bidirectionalMount(KUBELET_VOLUME, kubelet));
    pod.getContainers().add(new SidecarContainers(driver).registrar(first));
    new LivenessProbe(driver).addTo(pod, LivenessProbe.nodePort(driver.settings()));
  }
}
