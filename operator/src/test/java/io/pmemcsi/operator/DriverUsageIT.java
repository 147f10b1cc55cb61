package io.pmemcsi.operator;

import static io.pmemcsi.operator.CsiVolumes.attachment;
import static io.pmemcsi.operator.CsiVolumes.volume;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.operator.usage.ApiUsage;
import io.pmemcsi.operator.usage.DriverUsage;
import io.pmemcsi.operator.usage.SampledCount;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Finds the consumers of a driver on a real API server, with the operator's real permissions. */
@WithKubernetes
class DriverUsageIT {

  private static final String DRIVER = "usage.csi.example.com";

  @Test
  void consumersAreFoundOnEveryPage(Sandbox sandbox) {
    InstalledOperator.install(sandbox);
    for (int i = 1; i <= 3; i++) {
      sandbox.create(volume("usage-pv-" + i, DRIVER));
      sandbox.create(volume("usage-other-" + i, "other.csi.example.com"));
      sandbox.client().resource(pod("usage-pod-" + i, DRIVER)).create();
    }
    sandbox.create(attachment("usage-pv-2", DRIVER, "usage-node"));
    sandbox.create(attachment("usage-other-2", "other.csi.example.com", "usage-node"));
    finish(sandbox, "usage-pod-3");
    SnapshotClassesIT.serveSnapshots(sandbox);
    for (int i = 1; i <= 3; i++) {
      sandbox.create(snapshot("usage-snapshot-" + i, DRIVER));
      sandbox.create(snapshot("usage-other-snapshot-" + i, "other.csi.example.com"));
    }

    // long after the third pod terminated: its volumes are unmounted
    var reader =
        new ApiUsage(
            sandbox.clientAs(OperatorInstallation.NAME),
            Clock.offset(Clock.systemUTC(), Duration.ofMinutes(5)),
            2);

    assertThat(reader.read(DRIVER))
        .isEqualTo(
            new DriverUsage(
                DRIVER,
                new SampledCount(3, List.of("usage-pv-1", "usage-pv-2", "usage-pv-3")),
                new SampledCount(1, List.of("usage-pv-2 to node usage-node")),
                new SampledCount(
                    2,
                    List.of(
                        sandbox.namespace() + "/usage-pod-1",
                        sandbox.namespace() + "/usage-pod-2")),
                new SampledCount(
                    3,
                    List.of(
                        "usage-snapshot-1 of snapshot shop/s",
                        "usage-snapshot-2 of snapshot shop/s",
                        "usage-snapshot-3 of snapshot shop/s"))));
    assertThat(reader.read("unused.csi.example.com").isUsed()).isFalse();
    assertThat(
            new ApiUsage(sandbox.clientAs(OperatorInstallation.NAME), Clock.systemUTC())
                .read(DRIVER)
                .pods()
                .count())
        .as("kubelet may not have unmounted the volume of the third pod yet")
        .isEqualTo(3);
  }

  private static void finish(Sandbox sandbox, String pod) {
    sandbox
        .client()
        .pods()
        .withName(pod)
        .editStatus(
            found -> new PodBuilder(found).editStatus().withPhase("Succeeded").endStatus().build());
  }

  static GenericKubernetesResource snapshot(String name, String driver) {
    return new GenericKubernetesResourceBuilder()
        .withApiVersion("snapshot.storage.k8s.io/v1")
        .withKind("VolumeSnapshotContent")
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .addToAdditionalProperties(
            "spec",
            Map.of("driver", driver, "volumeSnapshotRef", Map.of("namespace", "shop", "name", "s")))
        .build();
  }

  private static Pod pod(String name, String driver) {
    return new PodBuilder()
        .withNewMetadata()
        .withName(name)
        .endMetadata()
        .withNewSpec()
        .withAutomountServiceAccountToken(false)
        .withNodeSelector(Map.of("no", "node"))
        .addNewContainer()
        .withName("c")
        .withImage("any")
        .endContainer()
        .addNewVolume()
        .withName("v")
        .withNewCsi()
        .withDriver(driver)
        .endCsi()
        .endVolume()
        .endSpec()
        .build();
  }
}
