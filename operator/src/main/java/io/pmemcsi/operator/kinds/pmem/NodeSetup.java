package io.pmemcsi.operator.kinds.pmem;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import java.util.List;
import java.util.Map;

/** Converts raw namespaces on nodes whose administrator asked for it with a label. */
final class NodeSetup {

  private final PmemModel driver;
  private final PmemNames names;

  NodeSetup(PmemModel driver) {
    this.driver = driver;
    this.names = driver.names();
  }

  List<HasMetadata> objects() {
    var labels = driver.labels().of(Component.NODE_SETUP);
    var access = new Rbac(driver, labels);
    return List.of(
        access.account(names.nodeSetup()),
        Rbac.clusterRole(
            names.nodeSetupClusterRole(), labels, List.of(Rbac.rule("", "nodes", "patch"))),
        access.clusterBinding(
            names.nodeSetupClusterRoleBinding(), names.nodeSetupClusterRole(), names.nodeSetup()),
        daemonSet());
  }

  private DaemonSet daemonSet() {
    var labels = driver.labels();
    return new DaemonSetBuilder()
        .withMetadata(driver.namespaced(names.nodeSetup(), labels.of(Component.NODE_SETUP)))
        .withNewSpec()
        .withNewSelector()
        .withMatchLabels(labels.selector(Component.NODE_SETUP))
        .endSelector()
        .withNewTemplate()
        .withNewMetadata()
        .withLabels(labels.ofPods(Component.NODE_SETUP))
        .endMetadata()
        .withNewSpec()
        .withServiceAccountName(names.nodeSetup())
        .withNodeSelector(Map.of(names.convertLabel(), "force"))
        .withPriorityClassName("system-node-critical")
        .withTolerations(new TolerationBuilder().withOperator("Exists").build())
        .addNewContainer()
        .withName("pmem-driver")
        .withImage(driver.image())
        .withImagePullPolicy(driver.pullPolicy())
        .withCommand(PmemModel.COMMAND)
        .withArgs(
            driver.verbosity(),
            driver.loggingFormat(),
            "-mode=force-convert-raw-namespaces",
            driver.driverNameArgument(),
            driver.nodeSelectorArgument(),
            "-nodeid=$(KUBE_NODE_NAME)")
        .withEnv(
            PmemModel.podField("KUBE_NODE_NAME", "spec.nodeName"),
            driver.driverNameVariable(),
            PmemModel.variable("TERMINATION_LOG_PATH", "/tmp/termination-log"))
        .withTerminationMessagePath("/tmp/termination-log")
        .withNewSecurityContext()
        .withPrivileged(true)
        .withRunAsUser(0L)
        .endSecurityContext()
        .withResources(driver.settings().nodeDriverResources())
        .withVolumeMounts(
            NodePods.mount("dev-dir", "/dev"),
            NodePods.mount("sys-dir", "/sys"),
            NodePods.mount("sys-dir", "/host-sys"))
        .endContainer()
        .withVolumes(NodePods.hostPath("dev-dir", "/dev"), NodePods.hostPath("sys-dir", "/sys"))
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }
}
