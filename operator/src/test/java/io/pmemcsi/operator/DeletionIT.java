package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deletion of a PmemCSIDeployment on a real control plane. */
@WithKubernetes(perClass = true)
class DeletionIT extends SharedOperator {

  private TestDriver driver;

  @BeforeEach
  void name(TestInfo test) {
    String name =
        "d%08x".formatted(test.getTestMethod().hashCode() + test.getDisplayName().hashCode());
    driver = new TestDriver(sandbox, name + ".example.com");
  }

  @Test
  void driverWithoutVolumesIsDeletedWithAllItsObjects() {
    driver.create("controllerTLS: {managed: true}");
    driver.awaitPhase("Initializing");

    driver.self().delete();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  /** As the status of a workload changes while its pods terminate. */
  @Test
  void objectThatChangesJustBeforeItsDeletionIsNoError() {
    driver.create("");
    driver.awaitPhase("Initializing");
    double errors = operator.errors("PmemCSIDeployment");
    operator.beforeWrite(
        "/daemonsets/%s-node".formatted(driver.prefix()),
        () ->
            Edits.edit(
                driver.daemonSet(),
                found -> {
                  found.getMetadata().getAnnotations().put("touched", "yes");
                  return found;
                }));

    driver.self().delete();

    driver.awaitDeleted();
    operator.awaitHook();
    assertThat(driver.objectNames()).isEmpty();
    assertThat(operator.errors("PmemCSIDeployment")).isEqualTo(errors);
  }

  /** A finalizer stands in for a kubelet that stops the containers. */
  @Test
  void accountsAndPermissionsStayUntilThePodsAreDeleted() {
    driver.create("");
    driver.awaitPhase("Initializing");
    DaemonSet daemonSet = driver.daemonSet().get();
    Pod pod = sandbox.create(podOf(daemonSet));

    driver.self().delete();

    await("pod terminates")
        .until(() -> client.resource(pod).get().getMetadata().getDeletionTimestamp() != null);
    assertThat(driver.self().get()).isNotNull();
    assertThat(driver.objectNames())
        .contains(
            "DaemonSet %s-node".formatted(driver.prefix()),
            "ServiceAccount %s-controller".formatted(driver.prefix()),
            "ClusterRoleBinding %s-csi-provisioner-role".formatted(driver.prefix()));

    Edits.edit(
        client.pods().inNamespace(sandbox.namespace()).withName(pod.getMetadata().getName()),
        found -> new PodBuilder(found).editMetadata().withFinalizers().endMetadata().build());

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  private Pod podOf(DaemonSet daemonSet) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("pod-of-" + driver.prefix())
        .withNamespace(sandbox.namespace())
        .withFinalizers("test/running")
        .addNewOwnerReference()
        .withApiVersion("apps/v1")
        .withKind("DaemonSet")
        .withName(daemonSet.getMetadata().getName())
        .withUid(daemonSet.getMetadata().getUid())
        .withBlockOwnerDeletion(true)
        .endOwnerReference()
        .endMetadata()
        .withNewSpec()
        .addNewContainer()
        .withName("driver")
        .withImage("driver")
        .endContainer()
        .endSpec()
        .build();
  }

  @ParameterizedTest
  @EnumSource(
      value = DeletionPropagation.class,
      names = {"BACKGROUND", "FOREGROUND"})
  void volumesBlockTheDeletionAndTheDriverIsStillReconciled(DeletionPropagation propagation) {
    driver.create("");
    driver.awaitPhase("Initializing");
    PersistentVolume volume = createVolume();

    driver.self().withPropagationPolicy(propagation).delete();

    await()
        .untilAsserted(
            () ->
                assertThat(driver.condition("DeletionHeld").map(DeploymentCondition::message))
                    .hasValueSatisfying(
                        message ->
                            assertThat(message)
                                .contains("1 PersistentVolume (%s".formatted(name(volume)))
                                .contains("pmem-csi.intel.com/force-deletion=true")));
    assertThat(driver.events()).contains("DeletionHeld");
    assertThat(driver.status().phase()).isEqualTo("Terminating");
    assertThat(driver.status().reason()).contains("1 PersistentVolume");
    driver.daemonSet().delete();
    await("is recreated").until(() -> driver.daemonSet().get() != null);

    client.resource(volume).delete();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void annotationForcesTheDeletion() {
    driver.create("");
    driver.awaitPhase("Initializing");
    createVolume();
    driver.self().delete();
    await().until(() -> driver.condition("DeletionHeld").isPresent());

    driver.edit(
        resource ->
            resource
                .getMetadata()
                .setAnnotations(Map.of("pmem-csi.intel.com/force-deletion", "true")));

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void immediatePolicyIgnoresVolumes() {
    driver.create("deletionPolicy: Immediate");
    driver.awaitPhase("Initializing");
    createVolume();

    driver.self().delete();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void volumesOfADriverThatIsNotOwnedDoNotBlockTheDeletion() {
    CSIDriver notOwned =
        sandbox.create(
            new CSIDriverBuilder()
                .withNewMetadata()
                .withName(driver.name())
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build());
    createVolume();
    driver.create("");
    driver.awaitPhase("Failed");

    driver.self().delete();

    driver.awaitDeleted();
    assertThat(client.resource(notOwned).get()).isNotNull();
  }

  /** The documented procedure when no operator runs any more. */
  @Test
  void withoutAnOperatorAUserCanRemoveTheFinalizer() {
    driver.create("");
    driver.awaitPhase("Initializing");
    operator.stop();
    driver.self().delete();
    assertThat(driver.self().get()).isNotNull();

    driver.edit(resource -> resource.getMetadata().setFinalizers(List.of()));

    driver.awaitDeleted();
    // the garbage collector discovers new kinds every 30 seconds
    await()
        .atMost(Duration.ofMinutes(3))
        .untilAsserted(() -> assertThat(driver.objectNames()).isEmpty());
    operator.start();
  }

  private PersistentVolume createVolume() {
    return sandbox.create(CsiVolumes.volume("volume-of-" + driver.prefix(), driver.name()));
  }

  private static String name(PersistentVolume volume) {
    return volume.getMetadata().getName();
  }
}
