package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The driver's controller: the user's template, its socket shared with the sidecars. */
record ControllerWorkload(TemplateDriver driver) {

  private static final IntOrString A_QUARTER = new IntOrString("25%");

  List<String> clashes() {
    return driver.settings().controllerTemplate().map(this::clashes).orElse(List.of());
  }

  private List<String> clashes(PodTemplateSpec template) {
    var settings = driver.settings();
    var containers = new ArrayList<String>();
    Stream.of(
            settings.hasProvisioner() ? SidecarContainers.PROVISIONER : "",
            settings.hasAttacher() ? SidecarContainers.ATTACHER : "",
            settings.hasResizer() ? SidecarContainers.RESIZER : "",
            settings.hasSnapshotter() ? SidecarContainers.SNAPSHOTTER : "",
            settings.probePeriodSeconds().isPresent() ? SidecarContainers.PROBE : "")
        .filter(name -> !name.isEmpty())
        .forEach(containers::add);
    return new TemplateConflicts(
            "spec.driverControllerTemplate",
            List.of(SidecarContainers.SOCKET_VOLUME),
            containers,
            List.of(driver.socketFolder()),
            settings.probePeriodSeconds().map(any -> LivenessProbe.controllerPort(settings)),
            Map.entry(TemplateDriver.CONTROLLER_LABEL, driver.controllerWorkload()))
        .find(template);
  }

  Optional<String> ownAccount() {
    return driver.settings().controllerTemplate().flatMap(PodTemplate::account);
  }

  Optional<Deployment> deployment() {
    return driver.settings().controllerTemplate().map(this::deployment);
  }

  private Deployment deployment(PodTemplateSpec template) {
    Map<String, String> selector =
        Map.of(TemplateDriver.CONTROLLER_LABEL, driver.controllerWorkload());
    return new DeploymentBuilder()
        .withMetadata(driver.namespaced(driver.controllerWorkload()))
        .withNewSpec()
        .withReplicas(driver.settings().replicas().orElse(driver.config().deploymentReplicas()))
        .withNewSelector()
        .withMatchLabels(selector)
        .endSelector()
        // what a server fills in, written down so that it is ours
        .withNewStrategy()
        .withType("RollingUpdate")
        .withNewRollingUpdate()
        .withMaxSurge(A_QUARTER)
        .withMaxUnavailable(A_QUARTER)
        .endRollingUpdate()
        .endStrategy()
        .withTemplate(changed(template, selector))
        .endSpec()
        .build();
  }

  private PodTemplateSpec changed(PodTemplateSpec written, Map<String, String> labels) {
    PodTemplateSpec template =
        PodTemplate.prepared(written, labels, Accounts.controllerAccount(driver));
    PodSpec pod = template.getSpec();
    Container first = pod.getContainers().getFirst();
    if (pod.getNodeSelector() == null || pod.getNodeSelector().isEmpty()) {
      pod.setNodeSelector(driver.config().infrastructureNodeSelector());
    }
    PodTemplate.addVolumes(
        pod,
        new VolumeBuilder()
            .withName(SidecarContainers.SOCKET_VOLUME)
            .withNewEmptyDir()
            .endEmptyDir()
            .build());
    PodTemplate.addMounts(
        first,
        new VolumeMountBuilder()
            .withName(SidecarContainers.SOCKET_VOLUME)
            .withMountPath(driver.socketFolder())
            .build());
    pod.getContainers().addAll(new SidecarContainers(driver).ofController(first));
    new LivenessProbe(driver).addTo(pod, LivenessProbe.controllerPort(driver.settings()));
    return template;
  }
}
