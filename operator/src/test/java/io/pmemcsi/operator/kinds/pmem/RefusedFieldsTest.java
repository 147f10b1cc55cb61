package io.pmemcsi.operator.kinds.pmem;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.PmemResource;
import io.pmemcsi.operator.apply.RefusedObjectException;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.render.Rendering;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefusedFieldsTest {

  @ParameterizedTest
  @CsvSource({
    "Service, a-scheduler, spec.ports[0].nodePort, spec.schedulerNodePort",
    "DaemonSet, a-node, spec.template.spec.containers[0].resources.requests,"
        + " spec.nodeDriverResources",
    "DaemonSet, a-node, spec.template.spec.containers[1].resources.limits[cpu],"
        + " spec.nodeRegistrarResources",
    "DaemonSet, a-node, spec.template.spec.containers[2].resources.requests,"
        + " spec.provisionerResources",
    "DaemonSet, a-node, spec.template.spec.containers[0].image, spec.image",
    "DaemonSet, a-node, spec.template.spec.containers[1].image, spec.nodeRegistrarImage",
    "DaemonSet, a-node, spec.template.spec.containers[2].image, spec.provisionerImage",
    "DaemonSet, a-node, spec.template.spec.containers[0].volumeMounts[0].mountPath,"
        + " spec.kubeletDir",
    "DaemonSet, a-node, spec.template.spec.volumes[0].hostPath.path, spec.kubeletDir",
    "DaemonSet, a-node, spec.updateStrategy.rollingUpdate.maxUnavailable, spec.maxUnavailable",
    "DaemonSet, a-node, spec.template.spec.nodeSelector, spec.nodeSelector",
    "DaemonSet, a-node, metadata.labels, spec.labels",
    "DaemonSet, a-node, spec.template.metadata.annotations, spec.nodePods.annotations",
    "DaemonSet, a-node, spec.template.spec.tolerations[0].key, spec.nodePods.tolerations",
    "Deployment, a-controller, spec.template.spec.affinity.nodeAffinity,"
        + " spec.controllerPods.affinity",
    "DaemonSet, a-node, spec.template.spec.imagePullSecrets[0].name, spec.imagePullSecrets",
    "StorageClass, fast, allowedTopologies[0].key, spec.storageClassTemplates",
    "Deployment, a-controller, spec.template.spec.containers[0].resources.requests,"
        + " spec.controllerDriverResources",
    "DaemonSet, a-node, spec.elsewhere, the API server refuses spec.elsewhere of DaemonSet"
  })
  void rejectedFieldIsReportedAsTheUserWroteIt(
      String kind, String name, String path, String reported) {
    assertThat(
            described(
                "schedulerNodePort: 31000, storageClassTemplates: [{metadata: {name: fast}}]",
                kind,
                name,
                path))
        .startsWith(reported)
        .endsWith("must be better");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "nodeResources: {} | DaemonSet | containers[0].resources.requests | nodeResources",
        "nodeResources: {} | DaemonSet | containers[1].resources.limits[cpu] | nodeResources",
        "nodeResources: {} | DaemonSet | containers[2].resources.requests | nodeResources",
        "nodeResources: {}, provisionerResources: {} | DaemonSet | containers[2].resources.limits"
            + " | provisionerResources",
        "nodeResources: {}, provisionerResources: {} | DaemonSet | containers[0].resources.limits"
            + " | nodeResources",
        "sidecars: {resizer: {resources: {}}} | DaemonSet | containers[3].resources.limits"
            + " | sidecars.resizer.resources",
        "sidecars: {resizer: {resources: {}}} | DaemonSet | containers[2].resources.limits"
            + " | provisionerResources",
        "sidecars: {nodeRegistrar: {resources: {}}} | DaemonSet | containers[1].resources.limits"
            + " | sidecars.nodeRegistrar.resources",
        "controllerResources: {} | Deployment | containers[0].resources.limits"
            + " | controllerResources",
        "controllerResources: {}, controllerDriverResources: {} | Deployment"
            + " | containers[0].resources.limits | controllerDriverResources",
        "registrarImage: b | DaemonSet | containers[1].image | registrarImage",
        "pullPolicy: Always | DaemonSet | containers[1].imagePullPolicy | pullPolicy",
        "imagePullPolicy: Always | DaemonSet | containers[1].imagePullPolicy | imagePullPolicy"
      })
  void fieldThatTheUserWroteIsNamed(String spec, String kind, String path, String reported) {
    String name = kind.equals("DaemonSet") ? "a-node" : "a-controller";

    assertThat(described(spec, kind, name, "spec.template.spec." + path))
        .isEqualTo("spec." + reported + ": must be better");
  }

  @ParameterizedTest
  @CsvSource({"controllerReplicas: 3, controllerReplicas", "controllReplicas: 3, controllReplicas"})
  void replicasAreNamedAsWritten(String spec, String reported) {
    assertThat(described(spec, "Deployment", "a-controller", "spec.replicas"))
        .isEqualTo("spec." + reported + ": must be better");
  }

  private static String described(String spec, String kind, String name, String path) {
    PmemCSIDeployment resource = PmemResource.of("a", "controllerTLSSecret: tls, " + spec);
    var refusal =
        new RefusedObjectException(
            object(resource, kind, name),
            new KubernetesClientException(
                "refused",
                422,
                new StatusBuilder()
                    .withNewDetails()
                    .addNewCause(path, "must be better", "FieldValueInvalid")
                    .endDetails()
                    .build()));
    return new PmemFields(resource.getSpec()).refused().describe(refusal);
  }

  private static HasMetadata object(PmemCSIDeployment resource, String kind, String name) {
    return new Rendering()
        .objects(resource, ClusterFacts.assumed(KubernetesVersion.OLDEST, "ns", "image")).stream()
            .filter(it -> it.getKind().equals(kind) && it.getMetadata().getName().equals(name))
            .findFirst()
            .orElseThrow();
  }
}
