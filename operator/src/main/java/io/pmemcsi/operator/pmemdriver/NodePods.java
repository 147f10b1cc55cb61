package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetUpdateStrategy;
import io.fabric8.kubernetes.api.model.apps.DaemonSetUpdateStrategyBuilder;
import io.pmemcsi.api.NodeSidecars;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Sidecar;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The pods on the nodes: the driver, its registration with the kubelet, and the other sidecars
 * unless the controller has them.
 */
public final class NodePods {

  private static final String CSI_ADDRESS = "--csi-address=/csi/csi.sock";

  /** The driver lets calls finish for a minute, then cancels them; one that is killed cannot. */
  private static final long GRACE_SECONDS = 90;

  private final PmemModel driver;
  private final PmemNames names;
  private final String kubeletDir;
  private final Provisioning provisioning;

  /** Where volumes are provisioned. */
  public enum Provisioning {
    ON_EACH_NODE,
    /** In the controller, with which the nodes register. */
    CENTRAL
  }

  public NodePods(PmemModel driver, Provisioning provisioning) {
    this.driver = driver;
    this.names = driver.names();
    this.kubeletDir = driver.settings().kubeletDir();
    this.provisioning = provisioning;
  }

  public DaemonSet daemonSet() {
    return new DaemonSetBuilder()
        .withMetadata(
            driver.namespaced(names.nodeDaemonSet(), labels(driver.labels().of(Component.NODE))))
        .withSpec(spec())
        .build();
  }

  private Map<String, String> labels(Map<String, String> labels) {
    return switch (provisioning) {
      case ON_EACH_NODE -> labels;
      case CENTRAL -> CentralProvisioning.withApp(names.nodeDaemonSet(), labels);
    };
  }

  private DaemonSetSpec spec() {
    return new DaemonSetSpecBuilder()
        .withSelector(
            new LabelSelectorBuilder()
                .withMatchLabels(driver.labels().selector(Component.NODE))
                .build())
        .withUpdateStrategy(updateStrategy())
        .withTemplate(PodCustomizer.onNodes(driver, template()))
        .build();
  }

  private DaemonSetUpdateStrategy updateStrategy() {
    return new DaemonSetUpdateStrategyBuilder()
        .withType("RollingUpdate")
        .withNewRollingUpdate()
        .withMaxUnavailable(driver.sizing().maxUnavailable())
        .endRollingUpdate()
        .build();
  }

  private PodTemplateSpec template() {
    return new PodTemplateSpecBuilder()
        .withNewMetadata()
        .withLabels(labels(driver.labels().ofPods(Component.NODE)))
        .withAnnotations(PmemModel.SCRAPE)
        .endMetadata()
        .withSpec(podSpec())
        .build();
  }

  private PodSpec podSpec() {
    var pod =
        new PodSpecBuilder()
            .withNodeSelector(new TreeMap<>(driver.settings().nodeSelector()))
            .withPriorityClassName("system-node-critical")
            .withTerminationGracePeriodSeconds(GRACE_SECONDS)
            .withTolerations(Pods.tolerateEverything());
    return switch (provisioning) {
      case ON_EACH_NODE ->
          pod.withServiceAccountName(names.nodeAccount())
              .withContainers(containers())
              .withVolumes(volumes())
              .build();
      case CENTRAL ->
          pod.withServiceAccountName(names.unprivilegedNodeAccount())
              // nothing in these pods talks to the API server
              .withAutomountServiceAccountToken(false)
              .withContainers(
                  CentralProvisioning.registering(driver, driverContainer()), registrar())
              .withVolumes(volumes())
              .addToVolumes(CentralProvisioning.nodeSecret(names))
              .build();
    };
  }

  private List<Container> containers() {
    NodeSidecars options = driver.settings().sidecars();
    var containers = new ArrayList<Container>();
    containers.add(driverContainer());
    containers.add(PodCustomizer.customize(registrar(), options.nodeRegistrar()));
    containers.add(PodCustomizer.customize(provisioner(), options.provisioner()));
    containers.add(PodCustomizer.customize(resizer(), options.resizer()));
    if (driver.takesSnapshots()) {
      containers.add(PodCustomizer.customize(snapshotter(), options.snapshotter()));
    }
    return containers;
  }

  private Container driverContainer() {
    return new ContainerBuilder()
        .withName("pmem-driver")
        .withImage(driver.image())
        .withImagePullPolicy(driver.pullPolicy())
        .withCommand(PmemModel.COMMAND)
        .withArgs(driverArguments())
        .withEnv(
            Pods.podField("KUBE_NODE_NAME", "spec.nodeName"),
            driver.driverNameVariable(),
            Pods.variable("TERMINATION_LOG_PATH", "/tmp/termination-log"))
        .withTerminationMessagePath("/tmp/termination-log")
        .withPorts(Pods.port(PmemModel.METRICS_PORT_NAME, PmemModel.METRICS_PORT))
        .withStartupProbe(PmemModel.startup("/metrics/simple", PmemModel.METRICS_PORT_NAME))
        .withLivenessProbe(PmemModel.liveness("/metrics/simple", PmemModel.METRICS_PORT_NAME))
        .withSecurityContext(Pods.privileged())
        .withResources(driver.sizing().nodeDriver())
        .withVolumeMounts(
            Pods.bidirectionalMount("mountpoint-dir", kubeletDir + "/plugins/kubernetes.io/csi"),
            Pods.bidirectionalMount("pods-dir", kubeletDir + "/pods"),
            Pods.mount("dev-dir", "/dev"),
            Pods.mount("sys-dir", "/sys"),
            // some runtimes mount /sys read-only; namespaces are created through this one
            Pods.mount("sys-dir", "/host-sys"),
            Pods.mount("socket-dir", "/csi"),
            Pods.bidirectionalMount("pmem-state-dir", names.stateDir()))
        .build();
  }

  private List<String> driverArguments() {
    var arguments =
        new ArrayList<>(
            List.of(
                driver.deviceManagerArgument(),
                driver.verbosity(),
                driver.loggingFormat(),
                "-mode=node",
                "-endpoint=unix:///csi/csi.sock",
                "-nodeid=$(KUBE_NODE_NAME)",
                "-statePath=/var/lib/$(PMEM_CSI_DRIVER_NAME)",
                driver.driverNameArgument(),
                "-pmemPercentage=" + driver.settings().pmemPercentage(),
                "-metricsListen=:" + PmemModel.METRICS_PORT));
    if (driver.removesStartupTaint()) {
      arguments.add("-startupTaint=true");
    }
    return arguments;
  }

  private Container registrar() {
    return new ContainerBuilder()
        .withName("driver-registrar")
        .withImage(
            driver
                .settings()
                .nodeRegistrarImage()
                .orElseGet(() -> driver.release(Sidecar.REGISTRAR).image()))
        .withImagePullPolicy(driver.pullPolicy())
        .withArgs(
            driver
                .release(Sidecar.REGISTRAR)
                .arguments(
                    driver.verbosity(),
                    "--kubelet-registration-path="
                        + kubeletDir
                        + "/plugins/$(PMEM_CSI_DRIVER_NAME)/csi.sock",
                    CSI_ADDRESS,
                    "--timeout=10s"))
        .withEnv(driver.driverNameVariable())
        .withSecurityContext(Pods.readOnlyRootFilesystem())
        .withResources(driver.sizing().nodeRegistrar())
        .withVolumeMounts(
            Pods.mount("socket-dir", "/csi"), Pods.mount("registration-dir", "/registration"))
        .build();
  }

  private Container provisioner() {
    return new Provisioner(driver, CSI_ADDRESS, "socket-dir")
        .container(List.of("--node-deployment=true"), Pods.podField("NODE_NAME", "spec.nodeName"));
  }

  /**
   * Works without calls to the driver, which expands volumes on the node: it updates the objects of
   * all nodes, so one resizer is enough, but any of them can be that one. A driver that cannot
   * expand volumes refuses its calls, and it reports the reason to the user.
   */
  private Container resizer() {
    return new ContainerBuilder()
        .withName("external-resizer")
        .withImage(
            driver
                .settings()
                .resizerImage()
                .orElseGet(() -> driver.release(Sidecar.RESIZER).image()))
        .withImagePullPolicy(driver.pullPolicy())
        .withArgs(
            driver
                .release(Sidecar.RESIZER)
                .arguments(
                    driver.verbosity(),
                    CSI_ADDRESS,
                    "--leader-election",
                    // volumes are expanded in use, so there is no need to watch all pods of the
                    // cluster
                    "--handle-volume-inuse-error=false"))
        .withSecurityContext(Pods.readOnlyRootFilesystem())
        .withResources(driver.sizing().provisioner())
        .withVolumeMounts(Pods.mount("socket-dir", "/csi"))
        .build();
  }

  /** Takes the snapshots of this node's volumes, so it elects no leader. */
  private Container snapshotter() {
    return new ContainerBuilder()
        .withName("external-snapshotter")
        .withImage(
            driver
                .settings()
                .snapshotterImage()
                .orElseGet(() -> driver.release(Sidecar.SNAPSHOTTER).image()))
        .withImagePullPolicy(driver.pullPolicy())
        .withArgs(
            driver
                .release(Sidecar.SNAPSHOTTER)
                .arguments(
                    driver.verbosity(),
                    CSI_ADDRESS,
                    "--node-deployment=true",
                    // a snapshot is a full copy
                    "--timeout=5m"))
        .withEnv(Pods.podField("NODE_NAME", "spec.nodeName"))
        .withSecurityContext(Pods.readOnlyRootFilesystem())
        .withResources(driver.sizing().provisioner())
        .withVolumeMounts(Pods.mount("socket-dir", "/csi"))
        .build();
  }

  private List<Volume> volumes() {
    return List.of(
        Pods.hostDirectoryOrCreate("socket-dir", kubeletDir + "/plugins/" + names.driverName()),
        Pods.hostDirectoryOrCreate("registration-dir", kubeletDir + "/plugins_registry/"),
        Pods.hostDirectoryOrCreate("mountpoint-dir", kubeletDir + "/plugins/kubernetes.io/csi"),
        Pods.hostDirectoryOrCreate("pods-dir", kubeletDir + "/pods"),
        Pods.hostDirectoryOrCreate("pmem-state-dir", names.stateDir()),
        Pods.hostDirectoryOrCreate("dev-dir", "/dev"),
        Pods.hostDirectoryOrCreate("sys-dir", "/sys"));
  }
}
