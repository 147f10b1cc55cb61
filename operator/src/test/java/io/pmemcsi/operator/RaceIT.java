package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.pmemdriver.PmemDrivers;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Objects that appear between the read and the write. */
@WithKubernetes
class RaceIT {

  private Sandbox sandbox;
  private KubernetesClient client;
  private InstalledOperator operator;
  private TestDriver driver;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.operator = InstalledOperator.install(sandbox);
    this.driver = new TestDriver(sandbox, "race.example.com");
  }

  @Test
  void ownLateWriteThatAnotherManagerChangedIsKept() {
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    operator.stop();
    DaemonSet late = forWriting(driver.daemonSet().get());
    driver.daemonSet().delete();
    // a late write of a previous process reaches the server now, and a controller reacts at once
    operator.beforeWrite(
        "/daemonsets",
        () -> {
          client.resource(late).fieldManager(PmemDrivers.FIELD_MANAGER).serverSideApply();
          Edits.edit(
              driver.daemonSet(),
              object -> {
                object.getMetadata().getAnnotations().put("controller", "was here");
                return object;
              });
        });

    operator.start();

    operator.awaitHook();
    await()
        .during(Duration.ofSeconds(2))
        .untilAsserted(
            () -> {
              assertThat(driver.status().phaseOrNew()).isEqualTo("Initializing");
              assertThat(driver.daemonSet().get().getMetadata().getAnnotations())
                  .containsEntry("controller", "was here")
                  .containsKey("pmem-csi.intel.com/owner");
            });
  }

  @Test
  void objectThatAnotherUserCreatesDuringTheApplyIsNotChanged() {
    var notOwned =
        new RoleBuilder()
            .withNewMetadata()
            .withName(driver.prefix() + "-external-provisioner-cfg")
            .withNamespace(sandbox.namespace())
            .withLabels(Map.of("team", "other"))
            .endMetadata()
            .build();
    operator.beforeWrite("/roles", () -> client.resource(notOwned).create());
    operator.start();

    driver.create("");

    driver.awaitPhase("Failed");
    assertThat(driver.status().reason()).contains(notOwned.getMetadata().getName());
    operator.awaitHook();
    var kept = client.resource(notOwned).get();
    assertThat(kept.getMetadata().getLabels()).isEqualTo(Map.of("team", "other"));
    assertThat(kept.getMetadata().getOwnerReferences()).isEmpty();
    assertThat(kept.getMetadata().getManagedFields()).hasSize(1);
    assertThat(kept.getRules()).isNullOrEmpty();
  }

  /** Without what the server has added. */
  private static DaemonSet forWriting(DaemonSet object) {
    var metadata = object.getMetadata();
    return new DaemonSetBuilder()
        .withNewMetadata()
        .withName(metadata.getName())
        .withNamespace(metadata.getNamespace())
        .withLabels(metadata.getLabels())
        .withAnnotations(metadata.getAnnotations())
        .withOwnerReferences(metadata.getOwnerReferences())
        .endMetadata()
        .withSpec(object.getSpec())
        .build();
  }
}
