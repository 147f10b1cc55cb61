package io.pmemcsi.operator.pmem;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.Rendering;
import io.pmemcsi.operator.engine.RefusedObjectException;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefusedFieldsTest {

  @ParameterizedTest
  @CsvSource({
    "Service, a-scheduler, spec.ports[0].nodePort, schedulerNodePort",
    "DaemonSet, a-node, spec.template.spec.containers[0].resources.requests, nodeDriverResources",
    "DaemonSet, a-node, spec.template.spec.containers[1].resources.limits[cpu],"
        + " nodeRegistrarResources",
    "DaemonSet, a-node, spec.template.spec.containers[2].resources.requests, provisionerResources",
    "DaemonSet, a-node, spec.template.spec.containers[0].image, image",
    "DaemonSet, a-node, spec.template.spec.containers[1].image, nodeRegistrarImage",
    "DaemonSet, a-node, spec.template.spec.containers[2].image, provisionerImage",
    "DaemonSet, a-node, spec.updateStrategy.rollingUpdate.maxUnavailable, maxUnavailable",
    "DaemonSet, a-node, spec.template.spec.nodeSelector, nodeSelector",
    "DaemonSet, a-node, metadata.labels, labels",
    "Deployment, a-controller, spec.template.spec.containers[0].resources.requests,"
        + " controllerDriverResources",
    "DaemonSet, a-node, spec.elsewhere, the API server refuses spec.elsewhere of DaemonSet"
  })
  void refusedFieldIsToldInTheUsersWords(String kind, String name, String path, String told) {
    var refusal =
        new RefusedObjectException(
            object(kind, name),
            new KubernetesClientException(
                "refused",
                422,
                new StatusBuilder()
                    .withNewDetails()
                    .addNewCause(path, "must be better", "FieldValueInvalid")
                    .endDetails()
                    .build()));

    assertThat(RefusedFields.describe(refusal)).startsWith(told).endsWith("must be better");
  }

  private static HasMetadata object(String kind, String name) {
    var resource =
        (PmemCSIDeployment)
            new Rendering()
                .read(
                    """
                    apiVersion: pmem-csi.intel.com/v1beta1
                    kind: PmemCSIDeployment
                    metadata: {name: a}
                    spec: {controllerTLSSecret: tls, schedulerNodePort: 31000}
                    """);
    return new Rendering()
        .objects(resource, ClusterFacts.assumed(KubernetesVersion.OLDEST, "ns", "image")).stream()
            .filter(it -> it.getKind().equals(kind) && it.getMetadata().getName().equals(name))
            .findFirst()
            .orElseThrow();
  }
}
