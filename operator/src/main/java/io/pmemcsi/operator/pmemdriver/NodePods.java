package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
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
import io.pmemcsi.operator.facts.ServedApi;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Sidecar;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The pods on the nodes: the driver, its registration with the kubelet, and the provisioner. */
public final class NodePods {

  private static final String CSI_ADDRESS = "--csi-address=/csi/csi.sock";

  private final PmemModel driver;
  private final PmemNames names;
  private final String kubeletDir;

  public NodePods(PmemModel driver) {
    this.driver = driver;
    this.names = driver.names();
    this.kubeletDir = driver.settings().kubeletDir();
  }

  public DaemonSet daemonSet() {
    return new DaemonSetBuilder()
        .withMetadata(driver.namespaced(names.nodeDaemonSet(), driver.labels().of(Component.NODE)))
        .withSpec(spec())
        .build();
  }

  private DaemonSetSpec spec() {
    return new DaemonSetSpecBuilder()
        .withSelector(
            new LabelSelectorBuilder()
                .withMatchLabels(driver.labels().selector(Component.NODE))
                .build())
        .withUpdateStrategy(updateStrategy())
        .withTemplate(template())
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
        .withLabels(driver.labels().ofPods(Component.NODE))
        .withAnnotations(PmemModel.SCRAPE)
        .endMetadata()
        .withSpec(podSpec())
        .build();
  }

  private PodSpec podSpec() {
    return new PodSpecBuilder()
        .withServiceAccountName(names.nodeAccount())
        .withNodeSelector(new TreeMap<>(driver.settings().nodeSelector()))
        .withPriorityClassName("system-node-critical")
        .withTolerations(Pods.tolerateEverything())
        .withContainers(driverContainer(), registrar(), provisioner())
        .withVolumes(volumes())
        .build();
  }

  private Container driverContainer() {
    return new ContainerBuilder()
        .withName("pmem-driver")
        .withImage(driver.image())
        .withImagePullPolicy(driver.pullPolicy())
        .withCommand(PmemModel.COMMAND)
        .withArgs(
            driver.deviceManagerArgument(),
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
            Pods.podField("KUBE_NODE_NAME", "spec.nodeName"),
            driver.driverNameVariable(),
            Pods.variable("TERMINATION_LOG_PATH", "/tmp/termination-log"))
        .withTerminationMessagePath("/tmp/termination-log")
        .withPorts(Pods.port(PmemModel.METRICS_PORT_NAME, PmemModel.METRICS_PORT))
        .withStartupProbe(PmemModel.startup("/metrics/simple", 300))
        .withLivenessProbe(PmemModel.liveness("/metrics/simple"))
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
            driver.verbosity(),
            "--kubelet-registration-path="
                + kubeletDir
                + "/plugins/$(PMEM_CSI_DRIVER_NAME)/csi.sock",
            CSI_ADDRESS,
            "--timeout=10s")
        .withEnv(driver.driverNameVariable())
        .withSecurityContext(Pods.readOnlyRootFilesystem())
        .withResources(driver.sizing().nodeRegistrar())
        .withVolumeMounts(
            Pods.mount("socket-dir", "/csi"), Pods.mount("registration-dir", "/registration"))
        .build();
  }

  private Container provisioner() {
    return new ContainerBuilder()
        .withName("external-provisioner")
        .withImage(
            driver
                .settings()
                .provisionerImage()
                .orElseGet(() -> driver.release(Sidecar.PROVISIONER).image()))
        .withImagePullPolicy(driver.pullPolicy())
        .withArgs(provisionerArguments())
        .withEnv(provisionerVariables())
        .withPorts(Pods.port(PmemModel.METRICS_PORT_NAME, PmemModel.PROVISIONER_METRICS_PORT))
        .withStartupProbe(PmemModel.startup("/metrics", 300))
        .withLivenessProbe(PmemModel.liveness("/metrics"))
        .withSecurityContext(Pods.readOnlyRootFilesystem())
        .withResources(driver.sizing().provisioner())
        .withVolumeMounts(Pods.mount("socket-dir", "/csi"))
        .build();
  }

  private List<String> provisionerArguments() {
    var args = new ArrayList<String>();
    args.add(driver.verbosity());
    args.add(CSI_ADDRESS);
    args.addAll(driver.release(Sidecar.PROVISIONER).flags());
    args.add("--node-deployment=true");
    args.add("--strict-topology=true");
    args.add("--immediate-topology=false");
    args.add("--timeout=5m");
    args.add("--default-fstype=ext4");
    args.add("--worker-threads=5");
    if (publishesCapacity()) {
      args.add("--enable-capacity");
      // owned by the pod, so that a node which loses its driver loses its capacity as well
      args.add("--capacity-ownerref-level=0");
    }
    args.add("--metrics-address=:" + PmemModel.PROVISIONER_METRICS_PORT);
    return args;
  }

  private List<EnvVar> provisionerVariables() {
    var env = new ArrayList<EnvVar>();
    env.add(Pods.podField("NODE_NAME", "spec.nodeName"));
    if (publishesCapacity()) {
      env.add(Pods.podField("NAMESPACE", "metadata.namespace"));
      env.add(Pods.podField("POD_NAME", "metadata.name"));
    }
    return env;
  }

  private boolean publishesCapacity() {
    return driver.facts().serves(ServedApi.STORAGE_CAPACITY);
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
