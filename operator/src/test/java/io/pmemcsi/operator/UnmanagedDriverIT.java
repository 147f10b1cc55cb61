package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A PmemCSIDeployment whose objects the operator leaves alone. */
@WithKubernetes(perClass = true)
class UnmanagedDriverIT extends SharedOperator {

  private static final String SPEC =
      "nodeSelector: {test/unmanaged: \"yes\"}, controllerTLS: {managed: true},"
          + " storageClassTemplates: [{metadata: {name: unmanaged-example-com-class}}]";
  private static final String UNMANAGED = SPEC + ", managementState: Unmanaged";
  private static final Duration QUIET = Duration.ofSeconds(3);

  @Test
  void objectsAreLeftAloneAndOutliveTheResource() {
    var driver = new TestDriver(sandbox, "unmanaged.example.com");
    driver.create(SPEC);
    try (var nodes =
        FakeNodes.create(sandbox.cluster(), 1, Map.of("test/unmanaged", "yes"))
            .runPods()
            .registerDrivers()) {
      driver.awaitPhase("Running");

      driver.setSpec(UNMANAGED + ", logLevel: 5");

      driver.awaitPhase("Unmanaged");
      assertThat(nodes.names()).hasSize(1);
      assertThat(driver.events()).contains("Unmanaged");
      assertThat(driver.condition("Ready").map(DeploymentCondition::status)).contains("True");
      assertThat(driver.condition("CertsReady").map(DeploymentCondition::status)).contains("True");
      delayReadiness(driver);
      await().during(QUIET).untilAsserted(() -> assertThat(isDelayed(driver)).isTrue());
      assertThat(driver.daemonSet().get().toString()).doesNotContain("-v=5");

      driver.setSpec(SPEC);
      driver.awaitPhase("Running");
      await().untilAsserted(() -> assertThat(isDelayed(driver)).isFalse());

      driver.setSpec(UNMANAGED);
      driver.awaitPhase("Unmanaged");
      List<String> objects = driver.objectNames();
      assertThat(objects).contains("StorageClass unmanaged-example-com-class");
      driver.self().delete();
      driver.awaitDeleted();
      // the garbage collector takes a moment
      await()
          .during(QUIET)
          .untilAsserted(() -> assertThat(driver.objectNames()).isEqualTo(objects));
      assertThat(driver.objects())
          .extracting(HasMetadata::getMetadata)
          .allSatisfy(metadata -> assertThat(metadata.getOwnerReferences()).isEmpty());
    }
  }

  /** A field that the operator removes from the workloads that it manages. */
  private static void delayReadiness(TestDriver driver) {
    Edits.edit(
        driver.daemonSet(),
        found -> {
          found.getSpec().setMinReadySeconds(7);
          return found;
        });
  }

  private static boolean isDelayed(TestDriver driver) {
    DaemonSet found = driver.daemonSet().get();
    return Integer.valueOf(7).equals(found.getSpec().getMinReadySeconds());
  }
}
