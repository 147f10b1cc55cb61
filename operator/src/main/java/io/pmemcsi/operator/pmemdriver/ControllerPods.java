package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.objects.Rbac.READ;
import static io.pmemcsi.operator.objects.Rbac.rule;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpec;
import io.fabric8.kubernetes.api.model.apps.DeploymentSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentStrategy;
import io.fabric8.kubernetes.api.model.apps.DeploymentStrategyBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Rbac;
import java.util.ArrayList;
import java.util.List;

/** The controller (scheduler extender, pod webhook and rescheduler) and its permissions. */
public final class ControllerPods {

  private final PmemModel driver;
  private final PmemNames names;
  private final ControllerCertificates certificates;

  public ControllerPods(PmemModel driver, ControllerCertificates certificates) {
    this.driver = driver;
    this.names = driver.names();
    this.certificates = certificates;
  }

  public List<HasMetadata> rbac() {
    var labels = driver.labels().of(Component.CONTROLLER);
    return List.of(
        Rbac.account(driver.namespaced(names.webhooksAccount(), labels)),
        Rbac.role(driver.namespaced(names.webhooksRole(), labels), namespaceRules()),
        Rbac.binding(
            driver.namespaced(names.webhooksRoleBinding(), labels),
            names.webhooksRole(),
            List.of(names.webhooksAccount())),
        Rbac.clusterRole(
            PmemModel.clusterWide(names.webhooksClusterRole(), labels), clusterRules()),
        Rbac.clusterBinding(
            PmemModel.clusterWide(names.webhooksClusterRoleBinding(), labels),
            names.webhooksClusterRole(),
            driver.facts().namespace(),
            names.webhooksAccount()));
  }

  private List<PolicyRule> namespaceRules() {
    var rules = new ArrayList<PolicyRule>();
    rules.add(rule("", "pods", READ));
    rules.add(rule("coordination.k8s.io", "leases", "get,create,update,patch"));
    if (driver.facts().serves(ServedApi.STORAGE_CAPACITY)) {
      rules.add(rule("storage.k8s.io", "csistoragecapacities", READ));
    }
    return rules;
  }

  private static List<PolicyRule> clusterRules() {
    return List.of(
        rule("", "persistentvolumes,nodes,pods", READ),
        rule("", "persistentvolumeclaims", READ + ",patch,update"),
        rule("", "events", READ + ",patch,update,create"),
        rule("storage.k8s.io", "storageclasses,csinodes", READ));
  }

  public Deployment deployment() {
    return new DeploymentBuilder()
        .withMetadata(
            driver.namespaced(names.controller(), driver.labels().of(Component.CONTROLLER)))
        .withSpec(spec())
        .build();
  }

  private DeploymentSpec spec() {
    var spec =
        new DeploymentSpecBuilder()
            .withSelector(
                new LabelSelectorBuilder()
                    .withMatchLabels(driver.labels().selector(Component.CONTROLLER))
                    .build())
            .withStrategy(replaceOneByOne())
            .withTemplate(
                PodCustomizer.customize(
                    template(),
                    driver.settings().controllerPods(),
                    driver.settings().imagePullSecrets()));
    driver.sizing().controllerReplicas().ifPresent(spec::withReplicas);
    return spec.build();
  }

  /** A new replica is ready before an old one ends, so that each scheduling attempt is answered. */
  private static DeploymentStrategy replaceOneByOne() {
    return new DeploymentStrategyBuilder()
        .withType("RollingUpdate")
        .withNewRollingUpdate()
        .withMaxSurge(new IntOrString(1))
        .withMaxUnavailable(new IntOrString(0))
        .endRollingUpdate()
        .build();
  }

  /** Replicas prefer different nodes. */
  private Affinity spread() {
    return new AffinityBuilder()
        .withNewPodAntiAffinity()
        .addNewPreferredDuringSchedulingIgnoredDuringExecution()
        .withWeight(100)
        .withNewPodAffinityTerm()
        .withTopologyKey("kubernetes.io/hostname")
        .withNewLabelSelector()
        .withMatchLabels(driver.labels().selector(Component.CONTROLLER))
        .endLabelSelector()
        .endPodAffinityTerm()
        .endPreferredDuringSchedulingIgnoredDuringExecution()
        .endPodAntiAffinity()
        .build();
  }

  private PodTemplateSpec template() {
    return new PodTemplateSpecBuilder()
        .withNewMetadata()
        .withLabels(driver.labels().ofPods(Component.CONTROLLER))
        .withAnnotations(PmemModel.SCRAPE)
        .endMetadata()
        .withSpec(podSpec())
        .build();
  }

  private PodSpec podSpec() {
    return new PodSpecBuilder()
        .withServiceAccountName(names.webhooksAccount())
        .withPriorityClassName("system-cluster-critical")
        .withTolerations(Pods.tolerate("NoSchedule"), Pods.tolerate("NoExecute"))
        .withSecurityContext(driver.nonRoot())
        .withAffinity(spread())
        .withContainers(container())
        .withVolumes(
            Pods.secret("webhook-cert", certificates.secretName()), Pods.emptyDir("tmp-dir"))
        .build();
  }

  private Container container() {
    return new ContainerBuilder()
        .withName("pmem-driver")
        .withImage(driver.image())
        .withImagePullPolicy(driver.pullPolicy())
        .withCommand(PmemModel.COMMAND)
        .withArgs(arguments())
        .withEnv(
            Pods.variable("TERMINATION_LOG_PATH", "/dev/termination-log"),
            driver.driverNameVariable(),
            Pods.podField("POD_NAMESPACE", "metadata.namespace"))
        .withTerminationMessagePath("/dev/termination-log")
        .withPorts(Pods.port(PmemModel.METRICS_PORT_NAME, PmemModel.METRICS_PORT))
        .withStartupProbe(PmemModel.startup("/metrics/simple", PmemModel.METRICS_PORT_NAME))
        .withLivenessProbe(PmemModel.liveness("/metrics/simple", PmemModel.METRICS_PORT_NAME))
        .withReadinessProbe(Pods.httpProbe("/readyz", PmemModel.METRICS_PORT_NAME, 2, 2))
        .withSecurityContext(Pods.unprivileged())
        .withResources(driver.sizing().controller())
        .withVolumeMounts(Pods.mount("webhook-cert", "/certs"), Pods.mount("tmp-dir", "/tmp"))
        .build();
  }

  private List<String> arguments() {
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
    return args;
  }
}
