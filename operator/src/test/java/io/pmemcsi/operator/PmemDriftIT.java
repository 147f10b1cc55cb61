package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.pmemdriver.PmemDrivers;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Drift of the objects of a PmemCSIDeployment, and objects that are not owned. */
@WithKubernetes(perClass = true)
class PmemDriftIT extends SharedOperator {

  private static final String SPEC = "nodeSelector: {test/drift: \"yes\"}";
  private static final String WITH_CONTROLLER = SPEC + ", controllerTLS: {managed: true}";

  private TestDriver driver;

  @BeforeEach
  void name(TestInfo test) {
    driver =
        new TestDriver(sandbox, "o%08x.example.com".formatted(test.getDisplayName().hashCode()));
  }

  @AfterEach
  void deleteResource() {
    driver.self().delete();
    driver.awaitDeleted();
  }

  @Test
  void objectThatIsNotOwnedFailsTheDeploymentUntilItIsDeleted() throws Exception {
    HasMetadata notOwned =
        client
            .resource(
                new RoleBuilder()
                    .withNewMetadata()
                    .withName(driver.prefix() + "-external-provisioner-cfg")
                    .withNamespace(sandbox.namespace())
                    .endMetadata()
                    .build())
            .create();

    driver.create(SPEC);

    driver.awaitPhase("Failed");
    assertThat(driver.status().reason())
        .contains("Role \"%s-external-provisioner-cfg\"".formatted(driver.prefix()))
        .contains("was not created for this resource");
    assertThat(client.resource(notOwned).get().getMetadata().getResourceVersion())
        .isEqualTo(notOwned.getMetadata().getResourceVersion());
    assertThat(driver.daemonSet().get()).isNull();

    // the operator reconciles repeatedly but emits one event
    double runs = operator.runs(driver.name());
    await().until(() -> operator.runs(driver.name()) > runs + 1);
    assertThat(driver.events()).containsExactlyInAnyOrder("NewDeployment", "Failed");

    client.resource(notOwned).delete();

    driver.awaitPhase("Initializing");
    assertThat(driver.events()).containsExactlyInAnyOrder("NewDeployment", "Failed");
  }

  @Test
  void everyObjectThatIsNotOwnedIsReportedAndNoneIsChanged() {
    PmemCSIDeployment resource = driver.resource(WITH_CONTROLLER);
    List<HasMetadata> notOwned =
        new Rendering().objects(resource, facts()).stream().map(sandbox::create).toList();
    assertThat(notOwned).extracting(HasMetadata::getKind).contains("CSIDriver", "DaemonSet");

    int before = operator.writes().size();

    driver.create(WITH_CONTROLLER);

    driver.awaitPhase("Failed");
    assertThat(notOwned)
        .allSatisfy(
            object -> {
              assertThat(driver.status().reason())
                  .contains(
                      "%s \"%s\"".formatted(object.getKind(), object.getMetadata().getName()));
              assertThat(client.resource(object).get().getMetadata().getManagedFields())
                  .noneMatch(entry -> PmemDrivers.FIELD_MANAGER.equals(entry.getManager()));
            });
    assertThat(operator.writes().stream().skip(before))
        .noneMatch(write -> write.startsWith("DELETE"));

    notOwned.forEach(object -> client.resource(object).delete());

    driver.awaitPhase("Initializing");
  }

  /** Also while the driver runs: a user deletes an owned object and creates another one. */
  @Test
  void objectThatReplacesAnOwnedOneIsKept() {
    driver.create(SPEC);
    driver.awaitPhase("Initializing");
    operator.stop();
    CSIDriver owned = client.storage().v1().csiDrivers().withName(driver.name()).get();
    client.resource(owned).delete();
    var replacement =
        sandbox.create(
            new CSIDriverBuilder()
                .withNewMetadata()
                .withName(driver.name())
                .endMetadata()
                .withNewSpec()
                .withAttachRequired(true)
                .endSpec()
                .build());

    operator.start();

    driver.awaitPhase("Failed");
    assertThat(driver.status().reason()).contains("CSIDriver \"%s\"".formatted(driver.name()));
    assertThat(client.resource(replacement).get().getMetadata().getResourceVersion())
        .isEqualTo(replacement.getMetadata().getResourceVersion());
  }

  @Test
  void deletedObjectsOfEveryKindAreRecreated() {
    driver.create(WITH_CONTROLLER);
    driver.awaitPhase("Initializing");
    Map<String, String> before = Snapshot.of(driver.objects());
    for (HasMetadata object : driver.objects()) {
      String uid = object.getMetadata().getUid();
      client.resource(object).delete();
      await(object.getKind() + " is recreated")
          .untilAsserted(
              () -> {
                HasMetadata now = client.resource(object).get();
                assertThat(now).isNotNull();
                assertThat(now.getMetadata().getUid()).isNotEqualTo(uid);
              });
    }
    await().untilAsserted(() -> assertThat(Snapshot.of(driver.objects())).isEqualTo(before));
  }

  @Test
  void editedObjectsOfEveryKindAreRevertedAndOtherLabelsAreKept() {
    driver.create(WITH_CONTROLLER);
    driver.awaitPhase("Initializing");
    for (HasMetadata object : driver.objects()) {
      // the object read before is stale by now: reverting one object changes others
      object.getMetadata().setResourceVersion(null);
      Edits.edit(client.resource(object), DriftInjector::inject);
      await(object.getKind() + " is reverted")
          .untilAsserted(
              () -> {
                HasMetadata now = client.resource(object).get();
                assertThat(DriftInjector.traces(now)).isEmpty();
                assertThat(now.getMetadata().getLabels())
                    .containsEntry("app.kubernetes.io/instance", driver.name())
                    .containsEntry("mine", "kept");
                assertThat(now.getMetadata().getOwnerReferences()).hasSize(1);
              });
    }
  }

  @Test
  void exclusiveFieldsAddedDuringDowntimeAreRemovedAndOthersStay() {
    driver.create(WITH_CONTROLLER);
    driver.awaitPhase("Initializing");
    Map<String, String> before = Snapshot.of(driver.objects());
    operator.stop();
    for (HasMetadata object : driver.objects()) {
      Edits.edit(client.resource(object), ExtraFieldInjector::inject);
    }
    assertThat(Snapshot.differences(Snapshot.of(driver.objects()), before))
        .hasSameSizeAs(before.keySet());

    operator.start();

    await()
        .untilAsserted(
            () -> {
              var now =
                  Snapshot.of(
                      driver.objects().stream().map(ExtraFieldInjector::removeKeptFields).toList());
              assertThat(Snapshot.differences(now, before)).isEmpty();
            });
    // the operator does not contend for fields of other managers
    operator.awaitQuiet();
  }

  @Test
  void replicasAreLeftToAnAutoscalerUnlessTheResourceSetsThem() {
    driver.create(WITH_CONTROLLER);
    driver.awaitPhase("Initializing");
    var controller =
        client
            .apps()
            .deployments()
            .inNamespace(sandbox.namespace())
            .withName(driver.prefix() + "-controller");
    controller.scale(3);
    // drift of an owned field makes the operator write the object
    Edits.edit(
        controller,
        object -> {
          object.getMetadata().getLabels().put("app.kubernetes.io/part-of", "other");
          return object;
        });
    await()
        .untilAsserted(
            () ->
                assertThat(controller.get().getMetadata().getLabels())
                    .containsEntry("app.kubernetes.io/part-of", "pmem-csi"));
    assertThat(controller.get().getSpec().getReplicas()).isEqualTo(3);

    driver.setSpec(WITH_CONTROLLER + ", controllerReplicas: 2");

    await().untilAsserted(() -> assertThat(controller.get().getSpec().getReplicas()).isEqualTo(2));
    controller.scale(5);
    await().untilAsserted(() -> assertThat(controller.get().getSpec().getReplicas()).isEqualTo(2));
  }

  private ClusterFacts facts() {
    return ClusterFacts.assumed(
        KubernetesVersion.parse(sandbox.version().toString()),
        sandbox.namespace(),
        InstalledOperator.IMAGE);
  }
}
