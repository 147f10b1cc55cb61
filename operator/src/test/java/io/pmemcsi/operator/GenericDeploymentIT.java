package io.pmemcsi.operator;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.generic.Child;
import io.pmemcsi.api.generic.DriverCondition;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.testbed.kubernetes.PaperNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.TestInstance;

/** The life of a CSIDriverDeployment on a real control plane, under the operator's real rights. */
@WithKubernetes(perClass = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GenericDeploymentIT {

  private Sandbox sandbox;
  private KubernetesClient client;
  private InstalledOperator operator;
  private PaperNodes nodes;
  private GenericResource driver;

  @BeforeAll
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.operator = InstalledOperator.install(sandbox).start();
    this.nodes = PaperNodes.create(sandbox.cluster(), 2, Map.of("test/generic", "yes")).runPods();
  }

  @AfterAll
  void removeNodes() {
    nodes.close();
  }

  @BeforeEach
  void name(TestInfo test) {
    String name = "g%08x".formatted(test.getDisplayName().hashCode());
    driver = new GenericResource(client, sandbox.namespace(), name);
  }

  @AfterEach
  void deleteResource() {
    if (driver.get() != null) {
      driver.delete();
    }
  }

  @Test
  void everythingIsMadeAndBecomesAvailable() {
    driver.create();

    driver.awaitSynced();
    driver.awaitAvailable();
    List<HasMetadata> wanted =
        new Rendering()
            .objects(
                driver.get(), new ClusterProbe(client).facts(sandbox.namespace(), "any:image"));
    assertThat(wanted).hasSize(11);
    for (HasMetadata object : wanted) {
      assertThat(Containment.missing(object, client.resource(object).get())).isEmpty();
    }
    assertThat(driver.objects()).hasSameSizeAs(wanted);
    assertThat(driver.status().state()).isEqualTo("Managed");
    assertThat(driver.status().children())
        .extracting(Child::resource, Child::name)
        .containsExactly(
            tuple("DaemonSet", driver.name() + "-node"),
            tuple("Deployment", driver.name() + "-controller"));
    assertThat(driver.get().getMetadata().getFinalizers())
        .containsExactly("csidriver.storage.openshift.io");
    assertThat(driver.events()).containsExactlyInAnyOrder("Synced", "Available");
  }

  @Test
  void ownAccountIsKeptAndBound() {
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName("my-own")
                .withNamespace(sandbox.namespace())
                .endMetadata()
                .build())
        .createOr(existing -> existing.update());

    driver.create(
        GenericResource.yaml(driver.name())
            .replace(
                "containers: [{name: driver",
                "serviceAccountName: my-own\n      containers: [{name: driver"));

    driver.awaitSynced();
    assertThat(deployment().getSpec().getTemplate().getSpec().getServiceAccountName())
        .isEqualTo("my-own");
    assertThat(
            client
                .rbac()
                .clusterRoleBindings()
                .withName("csidriverdeployment:%s:%s".formatted(sandbox.namespace(), driver.name()))
                .get()
                .getSubjects())
        .extracting(subject -> subject.getName())
        .containsExactly("my-own");
    assertThat(driver.objectNames()).doesNotContain("ServiceAccount " + driver.name());
  }

  @Test
  void withoutAPeriodNothingIsProbed() {
    driver.create(GenericResource.yaml(driver.name()).replace("  probePeriodSeconds: 60\n", ""));

    driver.awaitSynced();
    assertThat(daemonSet().getSpec().getTemplate().getSpec().getContainers())
        .extracting(Container::getName)
        .containsExactly("driver", "helper", "csi-driver-registrar");
    assertThat(daemonSet().getSpec().getTemplate().getSpec().getContainers().getFirst())
        .satisfies(container -> assertThat(container.getLivenessProbe()).isNull());
  }

  @Test
  void settledResourceCausesNoWrites() {
    driver.create();
    driver.awaitSynced();
    driver.awaitAvailable();
    awaitQuiet();
    List<String> before = operator.writes();

    driver.patch("{\"metadata\":{\"annotations\":{\"touched\":\"yes\"}}}");
    Edits.edit(
        client.resource(daemonSet()),
        workload -> {
          workload.getMetadata().getAnnotations().put("also", "touched");
          return workload;
        });

    await()
        .during(Duration.ofSeconds(2))
        .atMost(Duration.ofSeconds(60))
        .until(() -> operator.writes().equals(before));
  }

  @Test
  void editsAreRevertedDeletionsAreRepairedAndForeignMetadataStays() {
    driver.create();
    driver.awaitSynced();
    List<HasMetadata> objects = driver.objects();
    assertThat(objects).hasSize(11);
    for (HasMetadata object : objects) {
      String before = object.getMetadata().getUid();
      client.resource(object).delete();
      await(object.getKind() + " is made again")
          .atMost(Duration.ofSeconds(60))
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
                {"csidriver.storage.openshift.io/owner-name": "somebody", "mine": "kept"}}}
              """);
      await(object.getKind() + " is mended")
          .atMost(Duration.ofSeconds(60))
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
    client.apps().deployments().inNamespace(sandbox.namespace()).withName(controller()).scale(3);
    await().atMost(Duration.ofSeconds(60)).until(() -> deployment().getSpec().getReplicas() == 1);
  }

  @Test
  void editsOfTheResourceReachItsObjects() {
    driver.create();
    driver.awaitSynced();

    driver.patch(
        """
        {"spec": {"logLevel": 2, "replicas": 2, "nodeUpdateStrategy": "OnDelete",
          "containerImages": {"driverRegistrarImage": "registrar:9"},
          "driverPerNodeTemplate": {"metadata": {"labels": {"team": null, "new": "label"}}}}}
        """);

    driver.awaitSynced();
    assertThat(deployment().getSpec().getReplicas()).isEqualTo(2);
    var spec = daemonSet().getSpec();
    assertThat(spec.getUpdateStrategy().getType()).isEqualTo("OnDelete");
    assertThat(spec.getTemplate().getMetadata().getLabels())
        .containsEntry("new", "label")
        .doesNotContainKey("team");
    assertThat(spec.getTemplate().getSpec().getContainers())
        .filteredOn(container -> container.getName().equals("csi-driver-registrar"))
        .singleElement()
        .satisfies(
            container -> {
              assertThat(container.getImage()).isEqualTo("registrar:9");
              assertThat(container.getArgs()).contains("--v=2");
            });
  }

  @Test
  void storageClassesComeAndGoWithTheSpec() {
    driver.create();
    driver.awaitSynced();
    String name = driver.name();

    driver.patch(
        """
        {"spec": {"storageClassTemplates": [
          {"metadata": {"name": "%s-second"}, "parameters": {"a": "b"}},
          {"metadata": {"name": "%s-third"}, "reclaimPolicy": "Retain"}]}}
        """
            .formatted(name, name));

    driver.awaitSynced();
    assertThat(driver.objectNames())
        .filteredOn(object -> object.startsWith("StorageClass"))
        .containsExactly("StorageClass " + name + "-second", "StorageClass " + name + "-third");
  }

  @Test
  void deletedResourceLeavesNothingBehindEvenIfHalfIsGone() {
    driver.create();
    driver.awaitSynced();
    operator.stop();
    client.resource(storageClasses().getFirst()).delete();
    client.rbac().clusterRoleBindings().withName(wideName()).delete();
    driver.resource().delete();
    operator.start();

    driver.awaitGone();

    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(driver.objectNames()).isEmpty());
  }

  @Test
  void unmanagedObjectsAreLeftAloneAndManagedOnesRepaired() {
    driver.create();
    driver.awaitSynced();
    driver.patch("{\"spec\":{\"managementState\":\"Unmanaged\"}}");
    await().atMost(Duration.ofSeconds(60)).until(() -> "Unmanaged".equals(driver.status().state()));

    client.resource(daemonSet()).delete();
    client.resource(storageClasses().getFirst()).delete();
    await()
        .during(Duration.ofSeconds(2))
        .atMost(Duration.ofSeconds(60))
        .until(() -> daemonSet() == null && storageClasses().size() == 1);
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

    await()
        .during(Duration.ofSeconds(3))
        .atMost(Duration.ofSeconds(60))
        .until(() -> uids().equals(uids));
    // they are nobody's now: the next one of that name does not touch them, and says so
    driver.create();
    driver.awaitSyncError("exists, left by an earlier CSIDriverDeployment");
    assertThat(uids()).isEqualTo(uids);
    driver.objects().forEach(object -> client.resource(object).delete());
    driver.awaitSynced();
  }

  @Test
  void statusFollowsDeploymentAndDaemonSet() {
    driver.create(
        GenericResource.yaml(driver.name())
            .replaceFirst("test/generic: \"yes\"", "test/nowhere: \"yes\""));
    driver.awaitNotAvailable("No node fits the node selector");
    driver.patch(
        """
        {"spec": {"driverPerNodeTemplate": {"spec": {"nodeSelector":
          {"test/nowhere": null, "test/generic": "yes"}}}}}
        """);
    driver.awaitAvailable();

    driver.patch(
        """
        {"spec": {"driverControllerTemplate": {"spec": {"nodeSelector": {"test/nowhere": "yes"}}}}}
        """);

    driver.awaitNotAvailable("The controller is being updated: 1 of its 2 pods are");
    driver.awaitSynced();
  }

  @Test
  void securityContextOfTheDriverIsCopiedToItsSidecars() {
    driver.create(
        GenericResource.yaml(driver.name())
            .replace(
                "securityContext: {privileged: true}",
                "securityContext: {privileged: true, runAsUser: 7}"));

    driver.awaitSynced();
    assertThat(daemonSet().getSpec().getTemplate().getSpec().getContainers())
        .filteredOn(container -> container.getName().startsWith("csi-"))
        .hasSize(2)
        .allSatisfy(
            container -> {
              assertThat(container.getSecurityContext().getPrivileged()).isTrue();
              assertThat(container.getSecurityContext().getRunAsUser()).isEqualTo(7);
            });
  }

  @Test
  void driverWithoutControllerBecomesAvailable() {
    driver.create();
    driver.awaitAvailable();

    driver.patch("{\"spec\":{\"driverControllerTemplate\":null}}");

    driver.awaitSynced();
    driver.awaitAvailable();
    assertThat(driver.objectNames()).noneMatch(object -> object.startsWith("Deployment"));
    assertThat(driver.status().children()).extracting(Child::resource).containsExactly("DaemonSet");
  }

  @Test
  void conditionsKeepTheTimeOfTheirLastChange() {
    driver.create();
    driver.awaitAvailable();
    driver.awaitSynced();
    driver.patch("{\"spec\":{\"driverSocket\":\"/run/../csi.sock\"}}");
    driver.awaitSyncError("driverSocket has a part . or ..");

    assertThat(driver.status().conditions())
        .extracting(DriverCondition::lastTransitionTime)
        .doesNotContainNull();
    // pods run, whatever the last edit says
    driver.awaitAvailable();
    assertThat(driver.status().observedGeneration()).isEqualTo(1L);
  }

  @Test
  void foreignObjectsOfEveryKindAreNeitherAdoptedNorDeleted() {
    List<HasMetadata> foreign =
        rendered().stream().map(this::somebodyElses).map(sandbox::create).toList();
    assertThat(foreign).hasSize(11);

    driver.create();

    for (HasMetadata object : foreign) {
      driver.awaitSyncError(
          "%s \"%s\"".formatted(object.getKind(), object.getMetadata().getName()));
    }
    driver.awaitSyncError("exists, but was not made for this resource");
    driver.awaitNotAvailable("has not started yet");
    driver.delete();
    assertThat(foreign)
        .allSatisfy(
            object -> {
              var now = client.resource(object).get().getMetadata();
              assertThat(now.getUid()).isEqualTo(object.getMetadata().getUid());
              assertThat(now.getLabels()).isEqualTo(Map.of("somebody", "else"));
              assertThat(now.getOwnerReferences()).isEmpty();
            });

    driver.create();
    foreign.forEach(object -> client.resource(object).delete());

    driver.awaitSynced();
    assertThat(driver.objects()).hasSize(11);
  }

  /** As people make a second class: the copy shows all marks of ours. */
  @Test
  void copiesOfOurObjectsStay() {
    driver.create();
    driver.awaitSynced();
    StorageClass copy = new StorageClassBuilder(storageClasses().getLast()).build();
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

  /** Available must not be said of a driver whose pods nobody has ever made. */
  @Test
  void driverWhoseDaemonSetCannotBeMadeIsNotAvailable() {
    var quota =
        client
            .resource(
                new ResourceQuotaBuilder()
                    .withNewMetadata()
                    .withName("no-daemonsets")
                    .withNamespace(sandbox.namespace())
                    .endMetadata()
                    .withNewSpec()
                    .withHard(Map.of("count/daemonsets.apps", new Quantity("0")))
                    .endSpec()
                    .build())
            .create();
    // nothing is counted before the controller and the server have seen it
    var dryRun = client.resource((DaemonSet) workload(rendered(), "DaemonSet")).dryRun();
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              try {
                dryRun.create();
                return false;
              } catch (KubernetesClientException e) {
                return e.getCode() == HTTP_FORBIDDEN;
              }
            });
    try {
      driver.create();

      driver.awaitSyncError("the API server refuses: daemonsets.apps");
      driver.awaitNotAvailable("The DaemonSet of the driver has not started yet");
    } finally {
      client.resource(quota).delete();
    }
    driver.awaitSynced();
    driver.awaitAvailable();
  }

  /** Node pods get no rights at all, the controller those that its sidecars need. */
  @Test
  void rightsAreSplitByJob() {
    driver.create();
    driver.awaitSynced();
    List<PolicyRule> rules = client.rbac().clusterRoles().withName(wideName()).get().getRules();

    assertThat(rules).hasSizeGreaterThan(3);
    for (PolicyRule rule : rules) {
      for (String resource : rule.getResources()) {
        for (String verb : rule.getVerbs()) {
          String group = rule.getApiGroups().getFirst();
          // the server itself learns of a new binding a moment later
          await("controller: %s %s".formatted(verb, resource))
              .atMost(Duration.ofSeconds(60))
              .pollDelay(Duration.ZERO)
              .until(() -> sandbox.may(driver.name(), verb, group, resource));
          assertThat(sandbox.may(driver.name() + "-node", verb, group, resource))
              .as("node: %s %s", verb, resource)
              .isFalse();
        }
      }
    }
    assertThat(sandbox.may(driver.name(), "list", "", "secrets")).isFalse();
  }

  @Test
  void valuesThatTheOperatorSetAreSetBack() {
    driver.create();
    driver.awaitSynced();
    Map<String, String> before = Snapshot.of(driver.objects());
    String image =
        """
        {"spec": {"template": {"spec": {"containers": [
          {"name": "driver", "image": "vandal"}]}}}}
        """;

    merge(daemonSet(), image);
    merge(deployment(), image);
    for (HasMetadata object : driver.objects()) {
      switch (object) {
        case ClusterRole role -> replace(role, "{\"rules\":[]}");
        case Role role -> replace(role, "{\"rules\":[]}");
        case ClusterRoleBinding binding -> replace(binding, "{\"subjects\":[]}");
        case RoleBinding binding -> replace(binding, "{\"subjects\":[]}");
        default -> {}
      }
    }

    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(Snapshot.of(driver.objects())).isEqualTo(before));
  }

  /** Applying alone would leave in place what others add where the operator has no value. */
  @Test
  void fieldsThatOthersAddAreTakenAway() {
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
        storageClasses().getFirst(),
        """
        {"mountOptions": ["noatime"], "allowVolumeExpansion": true, "allowedTopologies":
          [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]}
        """);
    merge(daemonSet(), pods);
    merge(deployment(), pods);
    replace(
        deployment(),
        "{\"spec\":{\"paused\":true,\"strategy\":{\"type\":\"Recreate\",\"rollingUpdate\":null}}}");

    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(Snapshot.of(driver.objects())).isEqualTo(before));
    assertThat(driver.events()).doesNotContain("Recreated");
  }

  /** As admission webhooks inject them, which would only do so again. */
  @Test
  void containersThatOthersAddStay() {
    driver.create();
    driver.awaitSynced();

    merge(
        deployment(),
        """
        {"metadata": {"annotations": {"injected": "yes"}}, "spec": {"paused": true, "template":
          {"metadata": {"annotations": {"injected": "yes"}}, "spec": {
            "volumes": [{"name": "injected", "emptyDir": {}}],
            "containers": [{"name": "injected", "image": "any:1"},
              {"name": "driver", "env": [{"name": "INJECTED", "value": "yes"}]}]}}}}
        """);

    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> !Boolean.TRUE.equals(deployment().getSpec().getPaused()));
    assertThat(client.getKubernetesSerialization().asJson(deployment()))
        .contains(
            "\"annotations\":{\"injected\":\"yes\"}",
            "\"image\":\"any:1\"",
            "\"name\":\"INJECTED\"",
            "{\"emptyDir\":{},\"name\":\"injected\"}");
  }

  /** Between the apply and the removal of what it leaves in place. */
  @Test
  void additionThatIsTakenBackMeanwhileIsNoError() {
    driver.create();
    driver.awaitSynced();
    String path = "/deployments/%s-controller".formatted(driver.name());
    long before = writesTo(path);
    var takenBack = new AtomicBoolean();
    operator.beforeEachWrite(
        () -> {
          if (writesTo(path) == before + 2 && takenBack.compareAndSet(false, true)) {
            merge(deployment(), "{\"spec\":{\"paused\":null}}");
          }
        });
    try {
      merge(deployment(), "{\"spec\":{\"paused\":true}}");
      await().atMost(Duration.ofSeconds(60)).untilTrue(takenBack);
    } finally {
      operator.beforeEachWrite(() -> {});
    }

    driver.patch("{\"spec\":{\"logLevel\":1}}");
    driver.awaitSynced();
    assertThat(driver.events()).doesNotContain("SyncError");
  }

  /** Both would write without end, and nobody would know. */
  @Test
  void somebodyWhoChangesAnObjectAgainAndAgainIsNamed() {
    driver.create();
    driver.awaitSynced();
    long before = writesToDaemonSet();

    await()
        .atMost(Duration.ofSeconds(60))
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

    // what the user himself wants is not put off
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
    return daemonSet().getSpec().getTemplate().getSpec().getContainers().getFirst().getImage();
  }

  private void fight(String image) {
    client
        .resource(daemonSet())
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
  void fieldsThatNeverChangeAreChangedByDeletionAndCreation() {
    driver.create();
    driver.awaitSynced();
    String before = storageClasses().getLast().getMetadata().getUid();

    driver.patch(
        """
        {"spec": {"csiDriver": {"attachRequired": false}, "sidecars": {"attacher": {"enabled": false}},
          "storageClassTemplates": [
            {"metadata": {"name": "%s-first", "annotations": {"note": "kept"}}, "default": true},
            {"metadata": {"name": "%s-second"}, "parameters": {"a": "changed"}}]}}
        """
            .formatted(driver.name(), driver.name()));

    driver.awaitSynced();
    assertThat(storageClasses().getLast())
        .satisfies(
            changed -> {
              assertThat(changed.getParameters()).containsEntry("a", "changed");
              assertThat(changed.getMetadata().getUid()).isNotEqualTo(before);
            });
    assertThat(storageClasses().getFirst().getMetadata().getAnnotations())
        .containsEntry("note", "kept")
        .containsEntry("storageclass.kubernetes.io/is-default-class", "true");
    assertThat(
            client
                .storage()
                .v1()
                .csiDrivers()
                .withName(driver.name() + ".csi.example.com")
                .get()
                .getSpec()
                .getAttachRequired())
        .isFalse();
    assertThat(driver.events()).contains("Recreated", "Recreated");
  }

  private List<HasMetadata> rendered() {
    HasMetadata resource = new Rendering().read(GenericResource.yaml(driver.name()));
    resource.getMetadata().setNamespace(sandbox.namespace());
    return new Rendering()
        .objects(resource, new ClusterProbe(client).facts(sandbox.namespace(), "any:image"));
  }

  private static HasMetadata workload(List<HasMetadata> objects, String kind) {
    return objects.stream().filter(one -> one.getKind().equals(kind)).findFirst().orElseThrow();
  }

  private HasMetadata somebodyElses(HasMetadata object) {
    HasMetadata copy = client.getKubernetesSerialization().clone(object);
    copy.getMetadata().setLabels(Map.of("somebody", "else"));
    return copy;
  }

  private void merge(HasMetadata object, String patch) {
    client.resource(object).patch(PatchContext.of(PatchType.STRATEGIC_MERGE), patch);
  }

  private void replace(HasMetadata object, String patch) {
    client.resource(object).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private List<String> uids() {
    return driver.objects().stream().map(object -> object.getMetadata().getUid()).sorted().toList();
  }

  private List<StorageClass> storageClasses() {
    return driver.objects().stream()
        .filter(StorageClass.class::isInstance)
        .map(StorageClass.class::cast)
        .toList();
  }

  private String wideName() {
    return "csidriverdeployment:%s:%s".formatted(sandbox.namespace(), driver.name());
  }

  private String controller() {
    return driver.name() + "-controller";
  }

  private DaemonSet daemonSet() {
    return client
        .apps()
        .daemonSets()
        .inNamespace(sandbox.namespace())
        .withName(driver.name() + "-node")
        .get();
  }

  private Deployment deployment() {
    return client
        .apps()
        .deployments()
        .inNamespace(sandbox.namespace())
        .withName(controller())
        .get();
  }

  private void awaitQuiet() {
    await()
        .atMost(Duration.ofSeconds(60))
        .until(
            () -> {
              int before = operator.writes().size();
              Thread.sleep(1500);
              return operator.writes().size() == before;
            });
  }
}
