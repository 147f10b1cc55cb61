package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.sidecars.Sidecar;
import io.pmemcsi.operator.sidecars.Sidecars;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The pods on the nodes: the driver, its registration with the kubelet, and the provisioner. */
final class NodePods {

  private static final String BIDIRECTIONAL = "Bidirectional";
  private static final String CSI_ADDRESS = "--csi-address=/csi/csi.sock";

  private final PmemModel driver;
  private final PmemNames names;
  private final String kubeletDir;

  NodePods(PmemModel driver) {
    this.driver = driver;
    this.names = driver.names();
    this.kubeletDir = driver.settings().kubeletDir();
  }

  DaemonSet daemonSet() {
    var labels = driver.labels();
    return new DaemonSetBuilder()
        .withMetadata(driver.namespaced(names.nodeDaemonSet(), labels.of(Component.NODE)))
        .withNewSpec()
        .withNewSelector()
        .withMatchLabels(labels.selector(Component.NODE))
        .endSelector()
        .withNewUpdateStrategy()
        .withType("RollingUpdate")
        .withNewRollingUpdate()
        .withMaxUnavailable(driver.settings().maxUnavailable())
        .endRollingUpdate()
        .endUpdateStrategy()
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(labels.ofPods(Component.NODE))
        .withAnnotations(PmemModel.SCRAPE)
        .endMetadata()
        .withNewSpec()
        .withServiceAccountName(names.nodeAccount())
        .withNodeSelector(new TreeMap<>(driver.settings().nodeSelector()))
        .withPriorityClassName("system-node-critical")
        .withTolerations(new TolerationBuilder().withOperator("Exists").build())
        .withContainers(driverContainer(), registrar(), provisioner())
        .withVolumes(volumes())
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private Container driverContainer() {
    return new ContainerBuilder()
        .withName("pmem-driver")
        .withImage(driver.image())
        .withImagePullPolicy(driver.pullPolicy())
        .withCommand(PmemModel.COMMAND)
        .withArgs(
            "-deviceManager="
                + switch (driver.settings().deviceMode()) {
                  case LVM -> "lvm";
                  case DIRECT -> "direct";
                },
            driver.verbosity(),
            driver.loggingFormat(),
            "-mode=node",
            "-endpoint=unix:///csi/csi.sock",
            "-nodeid=$(KUBE_NODE_NAME)",
            "-statePath=/var/lib/$(PMEM_CSI_DRIVER_NAME)",
            driver.driverNameArgument(),
            "-pmemPercentage=" + driver.settings().pmemPercentage(),
            "-metricsListen=:" + PmemModel.METRICS_PORT)
        .withEnv(
            PmemModel.podField("KUBE_NODE_NAME", "spec.nodeName"),
            driver.driverNameVariable(),
            PmemModel.variable("TERMINATION_LOG_PATH", "/tmp/termination-log"))
        .withTerminationMessagePath("/tmp/termination-log")
        .addNewPort()
        .withName("metrics")
        .withContainerPort(PmemModel.METRICS_PORT)
        .withProtocol("TCP")
        .endPort()
        .withStartupProbe(PmemModel.startup("/metrics/simple", 300))
        .withLivenessProbe(PmemModel.liveness("/metrics/simple"))
        .withNewSecurityContext()
        .withPrivileged(true)
        .withRunAsUser(0L)
        .endSecurityContext()
        .withResources(driver.settings().nodeDriverResources())
        .withVolumeMounts(
            mount("mountpoint-dir", kubeletDir + "/plugins/kubernetes.io/csi", BIDIRECTIONAL),
            mount("pods-dir", kubeletDir + "/pods", BIDIRECTIONAL),
            mount("dev-dir", "/dev"),
            mount("sys-dir", "/sys"),
            // where the runtime mounts /sys read-only, namespaces are made through this one
            mount("sys-dir", "/host-sys"),
            mount("socket-dir", "/csi"),
            mount("pmem-state-dir", names.stateDir(), BIDIRECTIONAL))
        .build();
  }

  private Container registrar() {
    return new ContainerBuilder()
        .withName("driver-registrar")
        .withImage(
            driver
                .settings()
                .nodeRegistrarImage()
                .orElseGet(() -> Sidecars.image(Sidecar.REGISTRAR, driver.facts().version())))
        .withImagePullPolicy(driver.pullPolicy())
        .withArgs(
            driver.verbosity(),
            "--kubelet-registration-path="
                + kubeletDir
                + "/plugins/$(PMEM_CSI_DRIVER_NAME)/csi.sock",
            CSI_ADDRESS,
            "--timeout=10s")
        .withEnv(driver.driverNameVariable())
        .withNewSecurityContext()
        .withReadOnlyRootFilesystem(true)
        .endSecurityContext()
        .withResources(driver.settings().nodeRegistrarResources())
        .withVolumeMounts(mount("socket-dir", "/csi"), mount("registration-dir", "/registration"))
        .build();
  }

  private Container provisioner() {
    boolean capacity = driver.facts().serves(ServedApi.STORAGE_CAPACITY);
    var args =
        new ArrayList<>(
            List.of(
                driver.verbosity(),
                CSI_ADDRESS,
                "--feature-gates=Topology=true",
                "--node-deployment=true",
                "--strict-topology=true",
                "--immediate-topology=false",
                "--timeout=5m",
                "--default-fstype=ext4",
                "--worker-threads=5"));
    var env = new ArrayList<EnvVar>();
    env.add(PmemModel.podField("NODE_NAME", "spec.nodeName"));
    if (capacity) {
      args.add("--enable-capacity");
      // owned by the pod, so that a node which loses its driver loses its capacity as well
      args.add("--capacity-ownerref-level=0");
      env.add(PmemModel.podField("NAMESPACE", "metadata.namespace"));
      env.add(PmemModel.podField("POD_NAME", "metadata.name"));
    }
    args.add("--metrics-address=:" + PmemModel.PROVISIONER_METRICS_PORT);
    return new ContainerBuilder()
        .withName("external-provisioner")
        .withImage(
            driver
                .settings()
                .provisionerImage()
                .orElseGet(() -> Sidecars.image(Sidecar.PROVISIONER, driver.facts().version())))
        .withImagePullPolicy(driver.pullPolicy())
        .withArgs(args)
        .withEnv(env)
        .addNewPort()
        .withName("metrics")
        .withContainerPort(PmemModel.PROVISIONER_METRICS_PORT)
        .withProtocol("TCP")
        .endPort()
        .withStartupProbe(PmemModel.startup("/metrics", 300))
        .withLivenessProbe(PmemModel.liveness("/metrics"))
        .withNewSecurityContext()
        .withReadOnlyRootFilesystem(true)
        .endSecurityContext()
        .withResources(driver.settings().provisionerResources())
        .withVolumeMounts(mount("socket-dir", "/csi"))
        .build();
  }

  private List<Volume> volumes() {
    return List.of(
        hostPath("socket-dir", kubeletDir + "/plugins/" + names.driverName()),
        hostPath("registration-dir", kubeletDir + "/plugins_registry/"),
        hostPath("mountpoint-dir", kubeletDir + "/plugins/kubernetes.io/csi"),
        hostPath("pods-dir", kubeletDir + "/pods"),
        hostPath("pmem-state-dir", names.stateDir()),
        hostPath("dev-dir", "/dev"),
        hostPath("sys-dir", "/sys"));
  }

  static Volume hostPath(String name, String path) {
    return new VolumeBuilder()
        .withName(name)
        .withNewHostPath()
        .withPath(path)
        .withType("DirectoryOrCreate")
        .endHostPath()
        .build();
  }

  static VolumeMount mount(String name, String path) {
    return new VolumeMountBuilder().withName(name).withMountPath(path).build();
  }

  private static VolumeMount mount(String name, String path, String propagation) {
    return new VolumeMountBuilder()
        .withName(name)
        .withMountPath(path)
        .withMountPropagation(propagation)
        .build();
  }
}
