package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.pmemcsi.operator.objects.Pods;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One controller that provisions volumes on all nodes: its pod, its services, and what the pods on
 * the nodes need to register with it.
 */
public final class CentralProvisioning {

  static final int REGISTRY_PORT = 10000;
  static final int NODE_PORT = 10001;

  private static final String CSI_ADDRESS = "--csi-address=/csi/csi-controller.sock";
  private static final String CERTIFICATES = "/certs";
  private static final List<String> TLS_ARGUMENTS =
      List.of(
          "-caFile=" + CERTIFICATES + "/ca.crt",
          "-certFile=" + CERTIFICATES + "/tls.crt",
          "-keyFile=" + CERTIFICATES + "/tls.key");

  private final PmemModel driver;
  private final PmemNames names;

  public CentralProvisioning(PmemModel driver) {
    this.driver = driver;
    this.names = driver.names();
  }

  /** The services first: the nodes find the controller through one of them. */
  public List<HasMetadata> objects() {
    return List.of(registry(), metrics(), statefulSet());
  }

  /** The driver on a node, registering with the controller. */
  static Container registering(PmemModel driver, Container container) {
    return new ContainerBuilder(container)
        .addToArgs(
            "-registryEndpoint=tcp://%s:%d".formatted(driver.names().controller(), REGISTRY_PORT),
            "-controllerEndpoint=tcp://$(KUBE_POD_IP):" + NODE_PORT)
        .addAllToArgs(TLS_ARGUMENTS)
        .addToEnv(Pods.podField("KUBE_POD_IP", "status.podIP"))
        .addToVolumeMounts(Pods.mount("node-cert", CERTIFICATES))
        .build();
  }

  static Volume nodeSecret(PmemNames names) {
    return Pods.secret("node-cert", names.nodeSecret());
  }

  /**
   * Adds the label by which PMEM-CSI 0.7 selected the pods of a workload: dashboards and patches
   * for it use the label. A label of the user wins.
   */
  static Map<String, String> withApp(String workload, Map<String, String> labels) {
    var all = new LinkedHashMap<>(labels);
    all.putIfAbsent("app", workload);
    return all;
  }

  private Service registry() {
    return service(names.controller(), "ClusterIP", REGISTRY_PORT);
  }

  private Service metrics() {
    return service(names.metricsService(), "NodePort", PmemModel.METRICS_PORT);
  }

  private Service service(String name, String type, int port) {
    return new ServiceBuilder()
        .withMetadata(driver.namespaced(name, driver.labels().of(Component.CONTROLLER)))
        .withNewSpec()
        .withType(type)
        .withSelector(driver.labels().selector(Component.CONTROLLER))
        .withPorts(
            new ServicePortBuilder()
                .withProtocol("TCP")
                .withPort(port)
                .withTargetPort(new IntOrString(port))
                .build())
        .endSpec()
        .build();
  }

  private StatefulSet statefulSet() {
    return new StatefulSetBuilder()
        .withMetadata(
            driver.namespaced(
                names.controller(),
                withApp(names.controller(), driver.labels().of(Component.CONTROLLER))))
        .withNewSpec()
        .withReplicas(1)
        .withServiceName(names.controller())
        // else a pod that never gets ready is not replaced by one of a corrected template
        .withPodManagementPolicy("Parallel")
        .withSelector(
            new LabelSelectorBuilder()
                .withMatchLabels(driver.labels().selector(Component.CONTROLLER))
                .build())
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(withApp(names.controller(), driver.labels().ofPods(Component.CONTROLLER)))
        .withAnnotations(PmemModel.SCRAPE)
        .endMetadata()
        .withSpec(podSpec())
        .endTemplate()
        .endSpec()
        .build();
  }

  private PodSpec podSpec() {
    return new PodSpecBuilder()
        .withServiceAccountName(names.nodeAccount())
        .withPriorityClassName("system-cluster-critical")
        .withTolerations(Pods.tolerate("NoSchedule"), Pods.tolerate("NoExecute"))
        .withSecurityContext(driver.nonRoot())
        .withAffinity(allowedNodes())
        .withContainers(container(), provisioner())
        .withVolumes(
            Pods.emptyDir("plugin-socket-dir"),
            Pods.secret("registry-cert", names.registrySecret()),
            Pods.emptyDir("state-dir"),
            Pods.emptyDir("tmp-dir"))
        .build();
  }

  private Container provisioner() {
    return new ContainerBuilder(
            new Provisioner(driver, CSI_ADDRESS, "plugin-socket-dir").container(List.of()))
        .withSecurityContext(Pods.unprivileged())
        .build();
  }

  /** Administrators keep the controller off nodes with this label. */
  private static Affinity allowedNodes() {
    return new AffinityBuilder()
        .withNewNodeAffinity()
        .withNewRequiredDuringSchedulingIgnoredDuringExecution()
        .addNewNodeSelectorTerm()
        .addNewMatchExpression()
        .withKey("pmem-csi.intel.com/controller")
        .withOperator("NotIn")
        .withValues("no", "false")
        .endMatchExpression()
        .endNodeSelectorTerm()
        .endRequiredDuringSchedulingIgnoredDuringExecution()
        .endNodeAffinity()
        .build();
  }

  private Container container() {
    return new ContainerBuilder()
        .withName("pmem-driver")
        .withImage(driver.image())
        .withImagePullPolicy(driver.pullPolicy())
        .withCommand(PmemModel.COMMAND)
        .withArgs(
            driver.verbosity(),
            driver.loggingFormat(),
            "-mode=controller",
            "-endpoint=unix:///csi/csi-controller.sock",
            "-registryEndpoint=tcp://:" + REGISTRY_PORT,
            "-nodeid=$(KUBE_NODE_NAME)",
            "-statePath=/var/lib/$(PMEM_CSI_DRIVER_NAME)",
            driver.driverNameArgument(),
            driver.deviceManagerArgument(),
            "-metricsListen=:" + PmemModel.METRICS_PORT)
        .addAllToArgs(TLS_ARGUMENTS)
        .withEnv(
            Pods.podField("KUBE_NODE_NAME", "spec.nodeName"),
            driver.driverNameVariable(),
            Pods.variable("TERMINATION_LOG_PATH", "/tmp/termination-log"))
        .withTerminationMessagePath("/tmp/termination-log")
        .withPorts(
            Pods.port("registry", REGISTRY_PORT),
            Pods.port(PmemModel.METRICS_PORT_NAME, PmemModel.METRICS_PORT))
        .withStartupProbe(PmemModel.startup("/metrics/simple", PmemModel.METRICS_PORT_NAME))
        .withLivenessProbe(PmemModel.liveness("/metrics/simple", PmemModel.METRICS_PORT_NAME))
        .withSecurityContext(Pods.unprivileged())
        .withResources(driver.sizing().controller())
        .withVolumeMounts(
            Pods.mount("plugin-socket-dir", "/csi"),
            Pods.mount("registry-cert", CERTIFICATES),
            Pods.mount("state-dir", names.stateDir()),
            Pods.mount("tmp-dir", "/tmp"))
        .build();
  }
}
