package io.pmemcsi.operator;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceQuotaBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.template.Child;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * The lifecycle of a CSIDriverDeployment on a real control plane, with the operator's permissions.
 */
@WithKubernetes(perClass = true)
class TemplateDeploymentIT extends SharedOperator {

  private FakeNodes nodes;
  private TemplateResource driver;

  @BeforeAll
  void prepare() {
    this.nodes = FakeNodes.create(sandbox.cluster(), 2, Map.of("test/generic", "yes")).runPods();
  }

  @AfterAll
  void removeNodes() {
    nodes.close();
  }

  @BeforeEach
  void name(TestInfo test) {
    String name = "g%08x".formatted(test.getDisplayName().hashCode());
    driver = new TemplateResource(client, sandbox.namespace(), name);
  }

  @AfterEach
  void deleteResource() {
    if (driver.get() != null) {
      driver.delete();
    }
    assertThat(operator.warnings()).isEmpty();
  }

  @Test
  void allObjectsAreCreatedAndTheDriverBecomesAvailable() {
    driver.create();

    driver.awaitSynced();
    driver.awaitAvailable();
    List<HasMetadata> desired =
        new Rendering()
            .objects(
                driver.get(), new ClusterProbe(client).facts(sandbox.namespace(), "any:image"));
    assertThat(desired).hasSize(11);
    for (HasMetadata object : desired) {
      assertThat(Containment.missing(object, client.resource(object).get())).isEmpty();
    }
    assertThat(driver.objects()).hasSameSizeAs(desired);
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
  void availableReportsWhyAPodIsNotReady() {
    driver.create();
    driver.awaitAvailable();
    Pod pod =
        client
            .pods()
            .inNamespace(sandbox.namespace())
            .withLabelSelector(driver.daemonSet().getSpec().getSelector())
            .list()
            .getItems()
            .getFirst();

    client.resource(pod).editStatus(TemplateDeploymentIT::withoutImage);

    await()
        .untilAsserted(
            () ->
                assertThat(driver.status().condition("Available").orElseThrow().message())
                    .startsWith(
                        ("1 of 2 driver pods on nodes are ready; pod \"%s\": container"
                                + " \"driver\" cannot pull the image ")
                            .formatted(pod.getMetadata().getName())));
  }

  /** As kubelet reports it. */
  private static Pod withoutImage(Pod pod) {
    pod.getStatus()
        .getConditions()
        .forEach(
            condition -> {
              if (condition.getType().endsWith("Ready")) {
                condition.setStatus("False");
              }
            });
    ContainerStatus status =
        pod.getStatus().getContainerStatuses().stream()
            .filter(container -> container.getName().equals("driver"))
            .findFirst()
            .orElseThrow();
    status.setReady(false);
    status.setState(
        new ContainerStateBuilder()
            .withNewWaiting()
            .withReason("ErrImagePull")
            .withMessage("no such image")
            .endWaiting()
            .build());
    return pod;
  }

  /** The user's first attempt names an account that does not exist; creating it is enough. */
  @Test
  void availableReportsWhyNoPodCanBeCreated() {
    driver.create(
        TemplateResource.yaml(driver.name())
            .replace("      containers:", "      serviceAccountName: later\n      containers:"));

    String cause =
        "; pods cannot be created: error looking up service account %s/later: serviceaccount"
            + " \"later\" not found. Create the ServiceAccount, or correct serviceAccountName.";
    driver.awaitNotAvailable(
        "0 of 1 controller pods are ready" + cause.formatted(sandbox.namespace()));
    await()
        .untilAsserted(
            () ->
                assertThat(driver.status().condition("Available").orElseThrow().message().lines())
                    .hasSize(2)
                    .allMatch(line -> line.endsWith(cause.formatted(sandbox.namespace()))));

    createAccount("later");
    driver.awaitAvailable();
  }

  /** Hollow pods run without the API that csi-snapshotter needs, so none gets a node here. */
  @Test
  void availableReportsThatTheClusterHasNoSnapshots() {
    driver.create(
        TemplateResource.yaml(driver.name()).replace("test/generic", "test/none")
            + "  sidecars: {snapshotter: {enabled: true}}\n");

    driver.awaitNotAvailable("0 of 1 controller pods are ready");
    driver.awaitNotAvailable(
        "The server has no snapshot.storage.k8s.io/v1, without which csi-snapshotter does not run:"
            + " install the CRDs and the snapshot-controller of external-snapshotter, or remove"
            + " sidecars.snapshotter.");
  }

  private void createAccount(String name) {
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(sandbox.namespace())
                .endMetadata()
                .build())
        .createOr(existing -> existing.update());
  }

  @Test
  void ownAccountIsKeptAndBound() {
    createAccount("my-own");

    driver.create(
        TemplateResource.yaml(driver.name())
            .replace(
                "containers: [{name: driver",
                "serviceAccountName: my-own\n      containers: [{name: driver"));

    driver.awaitSynced();
    assertThat(driver.deployment().getSpec().getTemplate().getSpec().getServiceAccountName())
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
    driver.create(TemplateResource.yaml(driver.name()).replace("  probePeriodSeconds: 60\n", ""));

    driver.awaitSynced();
    assertThat(driver.daemonSet().getSpec().getTemplate().getSpec().getContainers())
        .extracting(Container::getName)
        .containsExactly("driver", "helper", "csi-driver-registrar");
    assertThat(driver.daemonSet().getSpec().getTemplate().getSpec().getContainers().getFirst())
        .satisfies(container -> assertThat(container.getLivenessProbe()).isNull());
  }

  @Test
  void deployedResourceCausesNoWrites() {
    driver.create();
    driver.awaitSynced();
    driver.awaitAvailable();
    operator.awaitQuiet();
    List<String> before = operator.writes();

    driver.patch("{\"metadata\":{\"annotations\":{\"touched\":\"yes\"}}}");
    Edits.edit(
        client.resource(driver.daemonSet()),
        workload -> {
          workload.getMetadata().getAnnotations().put("also", "touched");
          return workload;
        });

    await().during(Duration.ofSeconds(2)).until(() -> operator.writes().equals(before));
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
    assertThat(driver.deployment().getSpec().getReplicas()).isEqualTo(2);
    var spec = driver.daemonSet().getSpec();
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
  void storageClassesFollowTheSpec() {
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
  void deletedResourceLeavesNothingBehindEvenIfHalfWasDeletedBefore() {
    driver.create();
    driver.awaitSynced();
    operator.stop();
    client.resource(driver.storageClasses().getFirst()).delete();
    client.rbac().clusterRoleBindings().withName(wideName()).delete();
    driver.resource().delete();
    operator.start();

    driver.awaitDeleted();

    await().untilAsserted(() -> assertThat(driver.objectNames()).isEmpty());
  }

  @Test
  void statusFollowsDeploymentAndDaemonSet() {
    driver.create(
        TemplateResource.yaml(driver.name())
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
        TemplateResource.yaml(driver.name())
            .replace(
                "securityContext: {privileged: true}",
                "securityContext: {privileged: true, runAsUser: 7}"));

    driver.awaitSynced();
    assertThat(driver.daemonSet().getSpec().getTemplate().getSpec().getContainers())
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
    // pods run despite the last edit
    driver.awaitAvailable();
    assertThat(driver.status().observedGeneration()).isEqualTo(1L);
  }

  /** A driver whose pods were never created must not be Available. */
  @Test
  void driverWhoseDaemonSetCannotBeCreatedIsNotAvailable() {
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
    // the counts are empty until the DaemonSet controller observed it
    var dryRun = client.resource((DaemonSet) workload(driver.rendered(), "DaemonSet")).dryRun();
    await()
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

  /** Node pods get no permissions, the controller those that its sidecars need. */
  @Test
  void nodeAndControllerHaveSeparatePermissions() {
    driver.create();
    driver.awaitSynced();
    List<PolicyRule> rules = client.rbac().clusterRoles().withName(wideName()).get().getRules();

    assertThat(rules).hasSizeGreaterThan(3);
    for (PolicyRule rule : rules) {
      for (String resource : rule.getResources()) {
        for (String verb : rule.getVerbs()) {
          String group = rule.getApiGroups().getFirst();
          // the authorizer observes a new binding a moment later
          await("controller: %s %s".formatted(verb, resource))
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
  void objectsWithChangedImmutableFieldsAreRecreated() {
    driver.create();
    driver.awaitSynced();
    String before = driver.storageClasses().getLast().getMetadata().getUid();

    driver.patch(
        """
        {"spec": {"csiDriver": {"attachRequired": false}, "sidecars": {"attacher": {"enabled": false}},
          "storageClassTemplates": [
            {"metadata": {"name": "%s-first", "annotations": {"note": "kept"}}, "default": true},
            {"metadata": {"name": "%s-second"}, "parameters": {"a": "changed"}}]}}
        """
            .formatted(driver.name(), driver.name()));

    driver.awaitSynced();
    assertThat(driver.storageClasses().getLast())
        .satisfies(
            changed -> {
              assertThat(changed.getParameters()).containsEntry("a", "changed");
              assertThat(changed.getMetadata().getUid()).isNotEqualTo(before);
            });
    assertThat(driver.storageClasses().getFirst().getMetadata().getAnnotations())
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

  private static HasMetadata workload(List<HasMetadata> objects, String kind) {
    return objects.stream().filter(one -> one.getKind().equals(kind)).findFirst().orElseThrow();
  }

  private String wideName() {
    return "csidriverdeployment:%s:%s".formatted(sandbox.namespace(), driver.name());
  }
}
