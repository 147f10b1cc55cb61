package io.pmemcsi.operator.kinds.template;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpec;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentStrategy;
import io.fabric8.kubernetes.api.model.apps.DeploymentStrategyBuilder;
import io.pmemcsi.operator.objects.Pods;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The driver's controller: the user's template, with its socket shared with the sidecars. */
record ControllerWorkload(TemplateDriver driver) {

  private static final IntOrString A_QUARTER = new IntOrString("25%");

  List<String> conflicts() {
    return driver.settings().controllerTemplate().map(this::conflicts).orElse(List.of());
  }

  private List<String> conflicts(PodTemplateSpec template) {
    var settings = driver.settings();
    var containers = new ArrayList<String>();
    driver.controllerSidecars().stream().map(SidecarContainers::name).forEach(containers::add);
    settings.probePeriodSeconds().ifPresent(_ -> containers.add(SidecarContainers.PROBE));
    return new TemplateConflicts(
            "spec.driverControllerTemplate",
            List.of(SidecarContainers.SOCKET_VOLUME),
            containers,
            List.of(driver.socketDirectory()),
            settings.probePeriodSeconds().map(_ -> LivenessProbe.controllerPort(settings)),
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
    return new DeploymentBuilder()
        .withMetadata(driver.namespaced(driver.controllerWorkload()))
        .withSpec(spec(template))
        .build();
  }

  private DeploymentSpec spec(PodTemplateSpec template) {
    Map<String, String> selector =
        Map.of(TemplateDriver.CONTROLLER_LABEL, driver.controllerWorkload());
    return new DeploymentSpecBuilder()
        .withReplicas(driver.settings().replicas().orElse(driver.config().deploymentReplicas()))
        .withSelector(new LabelSelectorBuilder().withMatchLabels(selector).build())
        .withStrategy(strategy())
        .withTemplate(template(template, selector))
        .build();
  }

  /** The server's defaults, set explicitly so that the operator owns the fields. */
  private static DeploymentStrategy strategy() {
    return new DeploymentStrategyBuilder()
        .withType("RollingUpdate")
        .withNewRollingUpdate()
        .withMaxSurge(A_QUARTER)
        .withMaxUnavailable(A_QUARTER)
        .endRollingUpdate()
        .build();
  }

  private PodTemplateSpec template(PodTemplateSpec written, Map<String, String> labels) {
    PodTemplateSpec template =
        PodTemplate.prepared(written, labels, Accounts.controllerAccount(driver));
    addTo(template.getSpec());
    return template;
  }

  private void addTo(PodSpec pod) {
    Container first = pod.getContainers().getFirst();
    if (pod.getNodeSelector() == null || pod.getNodeSelector().isEmpty()) {
      pod.setNodeSelector(driver.config().infrastructureNodeSelector());
    }
    PodTemplate.addVolumes(pod, Pods.emptyDir(SidecarContainers.SOCKET_VOLUME));
    PodTemplate.addMounts(
        first, Pods.mount(SidecarContainers.SOCKET_VOLUME, driver.socketDirectory()));
    pod.getContainers().addAll(new SidecarContainers(driver).ofController(first));
    new LivenessProbe(driver).addTo(pod, LivenessProbe.controllerPort(driver.settings()));
  }
}
