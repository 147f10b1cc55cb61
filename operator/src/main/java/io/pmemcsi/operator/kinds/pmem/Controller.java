package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.pmemcsi.operator.facts.ServedApi;
import java.util.ArrayList;
import java.util.List;

/** The controller: scheduler extender, pod webhook and rescheduler, with what they may do. */
final class Controller {

  private final PmemModel driver;
  private final PmemNames names;
  private final ControllerCertificates certificates;

  Controller(PmemModel driver, ControllerCertificates certificates) {
    this.driver = driver;
    this.names = driver.names();
    this.certificates = certificates;
  }

  List<HasMetadata> access() {
    var labels = driver.labels().of(Component.CONTROLLER);
    var access = new Rbac(driver, labels);
    return List.of(
        access.account(names.webhooksAccount()),
        access.role(names.webhooksRole(), namespaceRules()),
        access.binding(names.webhooksRoleBinding(), names.webhooksRole(), names.webhooksAccount()),
        Rbac.clusterRole(names.webhooksClusterRole(), labels, clusterRules()),
        access.clusterBinding(
            names.webhooksClusterRoleBinding(),
            names.webhooksClusterRole(),
            names.webhooksAccount()));
  }

  private List<PolicyRule> namespaceRules() {
    var rules = new ArrayList<PolicyRule>();
    rules.add(Rbac.rule("", "pods", "get,list,watch"));
    if (driver.facts().serves(ServedApi.STORAGE_CAPACITY)) {
      rules.add(Rbac.rule("storage.k8s.io", "csistoragecapacities", "get,list,watch"));
    }
    return rules;
  }

  private static List<PolicyRule> clusterRules() {
    return List.of(
        Rbac.rule("", "persistentvolumes,nodes", "get,list,watch"),
        Rbac.rule("", "persistentvolumeclaims", "get,list,watch,patch,update"),
        Rbac.rule("", "events", "get,list,watch,patch,update,create"),
        Rbac.rule("storage.k8s.io", "storageclasses,csinodes", "get,list,watch"));
  }

  Deployment deployment() {
    var labels = driver.labels();
    var builder =
        new DeploymentBuilder()
            .withMetadata(driver.namespaced(names.controller(), labels.of(Component.CONTROLLER)))
            .withNewSpec()
            .withNewSelector()
            .withMatchLabels(labels.selector(Component.CONTROLLER))
            .endSelector()
            .withNewTemplate()
            .withNewMetadata()
            .withLabels(labels.ofPods(Component.CONTROLLER))
            .withAnnotations(PmemModel.SCRAPE)
            .endMetadata()
            .withNewSpec()
            .withServiceAccountName(names.webhooksAccount())
            .withPriorityClassName("system-cluster-critical")
            .withTolerations(
                new TolerationBuilder().withOperator("Exists").withEffect("NoSchedule").build(),
                new TolerationBuilder().withOperator("Exists").withEffect("NoExecute").build())
            .withContainers(container())
            .withVolumes(
                new VolumeBuilder()
                    .withName("webhook-cert")
                    .withNewSecret()
                    .withSecretName(certificates.secretName())
                    .endSecret()
                    .build(),
                new VolumeBuilder().withName("tmp-dir").withNewEmptyDir().endEmptyDir().build())
            .endSpec()
            .endTemplate()
            .endSpec();
    Deployment deployment = builder.build();
    // not set unless asked for: then the number is the server's default or an autoscaler's
    driver.writtenReplicas().ifPresent(deployment.getSpec()::setReplicas);
    return deployment;
  }

  private Container container() {
    var args = new ArrayList<String>();
    args.add(driver.verbosity());
    args.add(driver.loggingFormat());
    args.add("-mode=webhooks");
    args.add(driver.driverNameArgument());
    args.add(driver.nodeSelectorArgument());
    args.add(certificates.issuedByOpenShift() ? "-caFile=" : "-caFile=/certs/ca.crt");
    args.add("-certFile=/certs/tls.crt");
    args.add("-keyFile=/certs/tls.key");
    args.add("-schedulerListen=:" + ControllerServices.HTTPS_PORT);
    if (certificates.issuedByOpenShift()) {
      args.add("-insecureSchedulerListen=:" + ControllerServices.HTTP_PORT);
    }
    args.add("-metricsListen=:" + PmemModel.METRICS_PORT);
    return new ContainerBuilder()
        .withName("pmem-driver")
        .withImage(driver.image())
        .withImagePullPolicy(driver.pullPolicy())
        .withCommand(PmemModel.COMMAND)
        .withArgs(args)
        .withEnv(
            PmemModel.variable("TERMINATION_LOG_PATH", "/dev/termination-log"),
            driver.driverNameVariable(),
            PmemModel.podField("POD_NAMESPACE", "metadata.namespace"))
        .withTerminationMessagePath("/dev/termination-log")
        .addNewPort()
        .withName("metrics")
        .withContainerPort(PmemModel.METRICS_PORT)
        .withProtocol("TCP")
        .endPort()
        .withStartupProbe(PmemModel.startup("/metrics/simple", 60))
        .withLivenessProbe(PmemModel.liveness("/metrics/simple"))
        .withNewSecurityContext()
        .withReadOnlyRootFilesystem(true)
        .endSecurityContext()
        .withResources(driver.settings().controllerDriverResources())
        .withVolumeMounts(
            NodePods.mount("webhook-cert", "/certs"), NodePods.mount("tmp-dir", "/tmp"))
        .build();
  }
}
