package io.pmemcsi.operator.pmemdriver;

import static io.pmemcsi.operator.objects.Rbac.rule;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSetSpecBuilder;
import io.pmemcsi.operator.objects.Pods;
import io.pmemcsi.operator.objects.Rbac;
import java.util.List;
import java.util.Map;

/** Converts raw namespaces on nodes whose administrator requested it with a label. */
public final class NodeSetup {

  private final PmemModel driver;
  private final PmemNames names;

  public NodeSetup(PmemModel driver) {
    this.driver = driver;
    this.names = driver.names();
  }

  public List<HasMetadata> objects() {
    var labels = driver.labels().of(Component.NODE_SETUP);
    return List.of(
        Rbac.account(driver.namespaced(names.nodeSetup(), labels)),
        Rbac.clusterRole(
            PmemModel.clusterWide(names.nodeSetupClusterRole(), labels),
            List.of(rule("", "nodes", "patch"))),
        Rbac.clusterBinding(
            PmemModel.clusterWide(names.nodeSetupClusterRoleBinding(), labels),
            names.nodeSetupClusterRole(),
            driver.facts().namespace(),
            names.nodeSetup()),
        daemonSet(labels));
  }

  private DaemonSet daemonSet(Map<String, String> labels) {
    return new DaemonSetBuilder()
        .withMetadata(driver.namespaced(names.nodeSetup(), labels))
        .withSpec(spec())
        .build();
  }

  private DaemonSetSpec spec() {
    return new DaemonSetSpecBuilder()
        .withSelector(
            new LabelSelectorBuilder()
                .withMatchLabels(driver.labels().selector(Component.NODE_SETUP))
                .build())
        .withTemplate(PodCustomizer.onNodes(driver, template()))
        .build();
  }

  private PodTemplateSpec template() {
    return new PodTemplateSpecBuilder()
        .withNewMetadata()
        .withLabels(driver.labels().ofPods(Component.NODE_SETUP))
        .endMetadata()
        .withSpec(podSpec())
        .build();
  }

  private PodSpec podSpec() {
    return new PodSpecBuilder()
        .withServiceAccountName(names.nodeSetup())
        .withNodeSelector(Map.of(names.convertLabel(), "force"))
        .withPriorityClassName("system-node-critical")
        .withTolerations(Pods.tolerateEverything())
        .withContainers(container())
        .withVolumes(
            Pods.hostDirectoryOrCreate("dev-dir", "/dev"),
            Pods.hostDirectoryOrCreate("sys-dir", "/sys"))
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
            "-mode=force-convert-raw-namespaces",
            driver.driverNameArgument(),
            driver.nodeSelectorArgument(),
            "-nodeid=$(KUBE_NODE_NAME)")
        .withEnv(
            Pods.podField("KUBE_NODE_NAME", "spec.nodeName"),
            driver.driverNameVariable(),
            Pods.variable("TERMINATION_LOG_PATH", "/tmp/termination-log"))
        .withTerminationMessagePath("/tmp/termination-log")
        .withSecurityContext(Pods.privileged())
        .withResources(driver.sizing().nodeDriver())
        .withVolumeMounts(
            Pods.mount("dev-dir", "/dev"),
            Pods.mount("sys-dir", "/sys"),
            Pods.mount("sys-dir", "/host-sys"))
        .build();
  }
}
