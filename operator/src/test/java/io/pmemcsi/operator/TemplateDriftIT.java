package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Drift of the objects of a driver from templates, on a real control plane. */
@WithKubernetes(perClass = true)
class TemplateDriftIT extends SharedOperator {

  private TemplateResource driver;

  @BeforeEach
  void name(TestInfo test) {
    String name = "o%08x".formatted(test.getDisplayName().hashCode());
    driver = new TemplateResource(client, sandbox.namespace(), name);
  }

  @AfterEach
  void deleteResource() {
    if (driver.get() != null) {
      driver.delete();
    }
  }

  @Test
  void editsAreRevertedDeletedObjectsRecreatedAndOtherMetadataKept() {
    driver.create();
    driver.awaitSynced();
    List<HasMetadata> objects = driver.objects();
    assertThat(objects).hasSize(11);
    for (HasMetadata object : objects) {
      String before = object.getMetadata().getUid();
      client.resource(object).delete();
      await(object.getKind() + " is recreated")
          .until(
              () -> {
                HasMetadata now = client.resource(object).get();
                return now != null && !now.getMetadata().getUid().equals(before);
              });
    }
    for (HasMetadata object : objects) {
      client
          .resource(object)
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              """
              {"metadata": {"ownerReferences": [], "labels":
                {"csidriver.storage.openshift.io/owner-name": "another-owner", "mine": "kept"}}}
              """);
      await(object.getKind() + " is reverted")
          .untilAsserted(
              () -> {
                var metadata = client.resource(object).get().getMetadata();
                assertThat(metadata.getLabels())
                    .containsEntry("csidriver.storage.openshift.io/owner-name", driver.name())
                    .containsEntry("mine", "kept");
                assertThat(metadata.getOwnerReferences())
                    .hasSize(metadata.getNamespace() == null ? 0 : 1);
              });
    }
    client.resource(driver.deployment()).scale(3);
    await().until(() -> driver.deployment().getSpec().getReplicas() == 1);
  }

  @Test
  void driftOfOwnedFieldsIsReverted() {
    driver.create();
    driver.awaitSynced();
    Map<String, String> before = Snapshot.of(driver.objects());
    String image =
        """
        {"spec": {"template": {"spec": {"containers": [
          {"name": "driver", "image": "drift"}]}}}}
        """;

    merge(driver.daemonSet(), image);
    merge(driver.deployment(), image);
    for (HasMetadata object : driver.objects()) {
      switch (object) {
        case ClusterRole role -> replace(role, "{\"rules\":[]}");
        case Role role -> replace(role, "{\"rules\":[]}");
        case ClusterRoleBinding binding -> replace(binding, "{\"subjects\":[]}");
        case RoleBinding binding -> replace(binding, "{\"subjects\":[]}");
        default -> {}
      }
    }

    await().untilAsserted(() -> assertThat(Snapshot.of(driver.objects())).isEqualTo(before));
  }

  /** An apply alone keeps fields that other managers add and the operator leaves unset. */
  @Test
  void fieldsThatOtherManagersAddAreRemoved() {
    driver.create();
    driver.awaitSynced();
    Map<String, String> before = Snapshot.of(driver.objects());
    String pods =
        """
        {"spec": {"minReadySeconds": 7, "template": {"spec": {"hostNetwork": true, "hostPID": true,
          "tolerations": [{"operator": "Exists"}], "containers": [
            {"name": "driver", "args": ["--mine"], "command": ["mine"]}]}}}}
        """;

    replace(
        driver.storageClasses().getFirst(),
        """
        {"mountOptions": ["noatime"], "allowVolumeExpansion": true, "allowedTopologies":
          [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]}
        """);
    merge(driver.daemonSet(), pods);
    merge(driver.deployment(), pods);
    replace(
        driver.deployment(),
        "{\"spec\":{\"paused\":true,\"strategy\":{\"type\":\"Recreate\",\"rollingUpdate\":null}}}");

    await().untilAsserted(() -> assertThat(Snapshot.of(driver.objects())).isEqualTo(before));
    assertThat(driver.events()).doesNotContain("Recreated");
  }

  /** Admission webhooks inject such containers, and would inject them again. */
  @Test
  void containersThatOtherManagersAddStay() {
    driver.create();
    driver.awaitSynced();

    merge(
        driver.deployment(),
        """
        {"metadata": {"annotations": {"injected": "yes"}}, "spec": {"paused": true, "template":
          {"metadata": {"annotations": {"injected": "yes"}}, "spec": {
            "volumes": [{"name": "injected", "emptyDir": {}}],
            "containers": [{"name": "injected", "image": "any:1"},
              {"name": "driver", "env": [{"name": "INJECTED", "value": "yes"}]}]}}}}
        """);

    await().until(() -> !Boolean.TRUE.equals(driver.deployment().getSpec().getPaused()));
    assertThat(client.getKubernetesSerialization().asJson(driver.deployment()))
        .contains(
            "\"annotations\":{\"injected\":\"yes\"}",
            "\"image\":\"any:1\"",
            "\"name\":\"INJECTED\"",
            "{\"emptyDir\":{},\"name\":\"injected\"}");
  }

  /** Between the apply and the removal of foreign fields. */
  @Test
  void fieldThatItsManagerRemovesFirstIsNoError() {
    driver.create();
    driver.awaitSynced();
    String path = "/deployments/%s-controller".formatted(driver.name());
    long before = writesTo(path);
    var takenBack = new AtomicBoolean();
    operator.beforeEachWrite(
        () -> {
          if (writesTo(path) == before + 2 && takenBack.compareAndSet(false, true)) {
            merge(driver.deployment(), "{\"spec\":{\"paused\":null}}");
          }
        });
    try {
      merge(driver.deployment(), "{\"spec\":{\"paused\":true}}");
      await().untilTrue(takenBack);
    } finally {
      operator.beforeEachWrite(() -> {});
    }

    driver.patch("{\"spec\":{\"logLevel\":1}}");
    driver.awaitSynced();
    assertThat(driver.events()).doesNotContain("SyncError");
  }

  /** Otherwise both managers would write without end, unnoticed by the user. */
  @Test
  void conflictingFieldManagerIsNamed() {
    driver.create();
    driver.awaitSynced();
    long before = writesToDaemonSet();

    await()
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              if (image().equals("driver:1")) {
                fight("fight:1");
              }
              return syncReason().equals("Contested");
            });

    driver.awaitSyncError(
        "DaemonSet \"%s-node\" in namespace \"%s\" is changed again and again by \"gitops\""
            .formatted(driver.name(), sandbox.namespace()));
    // five at once and one every ten seconds, up to two calls each
    assertThat(writesToDaemonSet() - before).as("writes").isLessThan(30);
    assertThat(driver.events()).contains("SyncError");

    // changes of the resource are applied without back-off
    driver.patch("{\"spec\":{\"logLevel\":1}}");
    driver.awaitSynced();
    assertThat(image()).isEqualTo("driver:1");
  }

  private long writesToDaemonSet() {
    return writesTo("/daemonsets/%s-node".formatted(driver.name()));
  }

  private long writesTo(String path) {
    return operator.writes().stream().filter(write -> write.endsWith(path)).count();
  }

  private String image() {
    return driver
        .daemonSet()
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .getFirst()
        .getImage();
  }

  private void fight(String image) {
    client
        .resource(driver.daemonSet())
        .patch(
            new PatchContext.Builder()
                .withPatchType(PatchType.STRATEGIC_MERGE)
                .withFieldManager("gitops")
                .build(),
            """
            {"spec": {"template": {"spec": {"containers": [{"name": "driver", "image": "%s"}]}}}}
            """
                .formatted(image));
  }

  private String syncReason() {
    return driver
        .status()
        .condition(DriverCondition.SYNC_SUCCESSFUL)
        .map(DriverCondition::reason)
        .orElse("");
  }

  @Test
  void unmanagedObjectsAreNotReconciledAndManagedOnesAre() {
    driver.create();
    driver.awaitSynced();
    driver.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
    await().until(() -> "Unmanaged".equals(driver.status().state()));

    client.resource(driver.daemonSet()).delete();
    client.resource(driver.storageClasses().getFirst()).delete();
    await()
        .during(Duration.ofSeconds(2))
        .until(() -> driver.daemonSet() == null && driver.storageClasses().size() == 1);
    driver.patch("{\"spec\":{\"managementState\":\"Managed\"}}");

    driver.awaitSynced();
    assertThat(driver.objects()).hasSize(11);
    assertThat(driver.status().state()).isEqualTo("Managed");
  }

  @Test
  void deletingAnUnmanagedResourceWorksAndLeavesItsObjects() {
    driver.create();
    driver.awaitSynced();
    driver.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
    List<String> uids = uids();

    driver.delete();

    await().during(Duration.ofSeconds(3)).until(() -> uids().equals(uids));
    // they have no owner now: the next resource with that name does not change them, and reports
    // that
    driver.create();
    driver.awaitSyncError("exists, left by an earlier CSIDriverDeployment");
    assertThat(uids()).isEqualTo(uids);
    driver.objects().forEach(object -> client.resource(object).delete());
    driver.awaitSynced();
  }

  private List<String> uids() {
    return driver.objects().stream().map(object -> object.getMetadata().getUid()).sorted().toList();
  }

  @Test
  void objectsThatAreNotOwnedAreNeitherAdoptedNorDeleted() {
    List<HasMetadata> notOwned =
        driver.rendered().stream().map(this::notOwnedCopy).map(sandbox::create).toList();
    assertThat(notOwned).hasSize(11);

    driver.create();

    for (HasMetadata object : notOwned) {
      driver.awaitSyncError(
          "%s \"%s\"".formatted(object.getKind(), object.getMetadata().getName()));
    }
    driver.awaitSyncError("exists, but was not created for this resource");
    driver.awaitNotAvailable("has not started yet");
    driver.delete();
    assertThat(notOwned)
        .allSatisfy(
            object -> {
              var now = client.resource(object).get().getMetadata();
              assertThat(now.getUid()).isEqualTo(object.getMetadata().getUid());
              assertThat(now.getLabels()).isEqualTo(Map.of("team", "other"));
              assertThat(now.getOwnerReferences()).isEmpty();
            });

    driver.create();
    notOwned.forEach(object -> client.resource(object).delete());

    driver.awaitSynced();
    assertThat(driver.objects()).hasSize(11);
  }

  private HasMetadata notOwnedCopy(HasMetadata object) {
    HasMetadata copy = client.getKubernetesSerialization().clone(object);
    copy.getMetadata().setLabels(Map.of("team", "other"));
    return copy;
  }

  /** Users copy storage classes, with all ownership labels. */
  @Test
  void copiesOfOwnedObjectsStay() {
    driver.create();
    driver.awaitSynced();
    StorageClass copy = new StorageClassBuilder(driver.storageClasses().getLast()).build();
    copy.getMetadata().setName(driver.name() + "-copy");
    copy.getMetadata().setUid(null);
    copy.getMetadata().setResourceVersion(null);
    copy.getMetadata().setCreationTimestamp(null);
    copy.getMetadata().setManagedFields(List.of());
    String uid = sandbox.create(copy).getMetadata().getUid();

    driver.patch("{\"spec\":{\"logLevel\":1}}");
    driver.awaitSynced();
    assertThat(client.resource(copy).get().getMetadata().getUid()).isEqualTo(uid);
    driver.delete();

    assertThat(client.resource(copy).get().getMetadata().getUid()).isEqualTo(uid);
  }

  private void merge(HasMetadata object, String patch) {
    client.resource(object).patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
  }

  private void replace(HasMetadata object, String patch) {
    client.resource(object).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }
}
