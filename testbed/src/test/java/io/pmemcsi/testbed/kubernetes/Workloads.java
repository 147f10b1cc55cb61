package io.pmemcsi.testbed.kubernetes;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import java.util.Map;

/** What tests let controllers work on. */
final class Workloads {

  private static final Map<String, String> LABELS = Map.of("app", "web");

  private Workloads() {}

  static Deployment deployment(int replicas, Map<String, String> nodeSelector) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName("web")
        .endMetadata()
        .withNewSpec()
        .withReplicas(replicas)
        .withSelector(selector())
        .withTemplate(template(nodeSelector))
        .endSpec()
        .build();
  }

  static DaemonSet daemonSet(Map<String, String> nodeSelector) {
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withName("agent")
        .endMetadata()
        .withNewSpec()
        .withSelector(selector())
        .withTemplate(template(nodeSelector))
        .endSpec()
        .build();
  }

  private static LabelSelector selector() {
    return new LabelSelectorBuilder().withMatchLabels(LABELS).build();
  }

  private static PodTemplateSpec template(Map<String, String> nodeSelector) {
    return new PodTemplateSpecBuilder()
        .withNewMetadata()
        .withLabels(LABELS)
        .endMetadata()
        .withNewSpec()
        .withNodeSelector(nodeSelector)
        .addNewContainer()
        .withName("web")
        .withImage("registry.example/web:1")
        .addNewPort()
        .withName("metrics")
        .withContainerPort(10010)
        .endPort()
        .withNewReadinessProbe()
        .withPeriodSeconds(1)
        .withNewHttpGet()
        .withPath("/metrics")
        .withNewPort("metrics")
        .endHttpGet()
        .endReadinessProbe()
        .withNewLivenessProbe()
        .withNewHttpGet()
        .withPath("/healthz")
        .withScheme("HTTPS")
        .withNewPort(10011)
        .endHttpGet()
        .endLivenessProbe()
        .addNewVolumeMount()
        .withName("state")
        .withMountPath("/state")
        .endVolumeMount()
        .endContainer()
        .addNewVolume()
        .withName("state")
        .withNewHostPath("/var/lib/pmem-csi-testbed", "DirectoryOrCreate")
        .endVolume()
        .endSpec()
        .build();
  }
}
