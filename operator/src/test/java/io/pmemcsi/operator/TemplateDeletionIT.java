package io.pmemcsi.operator;

import static java.net.HttpURLConnection.HTTP_NOT_FOUND;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.storage.StorageClassBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.template.DriverCondition;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Deletion and renaming of drivers from templates on a real control plane. */
@WithKubernetes(perClass = true)
class TemplateDeletionIT extends SharedOperator {

  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  private TemplateResource driver;

  @BeforeEach
  void name(TestInfo test) {
    String name =
        "d%08x".formatted(test.getTestMethod().hashCode() + test.getDisplayName().hashCode());
    driver = new TemplateResource(client, sandbox.namespace(), name);
  }

  @AfterEach
  void deleteResource() {
    if (driver.get() != null) {
      force();
      driver.delete();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DeletionPropagation.class,
      names = {"BACKGROUND", "FOREGROUND"})
  void volumeBlocksTheDeletionAndTheDriverIsStillReconciled(DeletionPropagation propagation) {
    driver.create();
    driver.awaitSynced();
    PersistentVolume volume = createVolume(driverName());

    driver.resource().withPropagationPolicy(propagation).delete();

    awaitHeld("1 PersistentVolume (%s)".formatted(volume.getMetadata().getName()));
    assertThat(driver.status().state()).isEqualTo("Removed");
    assertThat(driver.status().condition("Ready").map(DriverCondition::status))
        .as("the column of kubectl get")
        .contains("False");
    assertThat(driver.events()).containsOnlyOnce("DeletionHeld");
    awaitObjects(11);
    // with FOREGROUND the garbage collector may delete it too
    DaemonSet before = await().atMost(TIMEOUT).until(driver::daemonSet, Objects::nonNull);
    client.resource(before).delete();
    await()
        .atMost(TIMEOUT)
        .until(
            driver::daemonSet,
            now ->
                now != null && !now.getMetadata().getUid().equals(before.getMetadata().getUid()));

    client.resource(volume).delete();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void attachmentAndPodWithAnInlineVolumeBlockTheDeletion() {
    driver.create();
    driver.awaitSynced();
    HasMetadata attachment =
        sandbox.create(CsiVolumes.attachment("some-volume", driverName(), "some-node"));
    Pod pod = client.resource(inlineUser()).create();

    driver.resource().delete();

    awaitHeld("1 VolumeAttachment (some-volume to node some-node), 1 pod with an inline volume (");
    client.resource(attachment).delete();
    // its containers terminated, and the object stays until kubelet unmounted
    client.resource(pod).withGracePeriod(30).delete();
    client
        .pods()
        .inNamespace(sandbox.namespace())
        .withName(pod.getMetadata().getName())
        .editStatus(
            found -> new PodBuilder(found).editStatus().withPhase("Failed").endStatus().build());
    triggerReconciliation();
    awaitHeld("because these need it: 1 pod with an inline volume (");
    assertThat(driver.objects()).hasSize(11);

    Edits.edit(
        client.pods().inNamespace(sandbox.namespace()).withName(pod.getMetadata().getName()),
        found -> {
          found.getMetadata().setFinalizers(List.of());
          return found;
        });
    client.resource(pod).withGracePeriod(0).delete();
    triggerReconciliation();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void annotationForcesTheDeletion() {
    driver.create();
    driver.awaitSynced();
    PersistentVolume volume = createVolume(driverName());
    driver.resource().delete();
    awaitHeld("csidriver.storage.openshift.io/force-deletion=true");

    force();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
    assertThat(client.resource(volume).get()).isNotNull();
  }

  @Test
  void immediatePolicyIgnoresVolumes() {
    driver.create(
        TemplateResource.yaml(driver.name())
            .replace("spec:\n  driverName", "spec:\n  deletionPolicy: Immediate\n  driverName"));
    driver.awaitSynced();
    createVolume(driverName());

    driver.delete();

    assertThat(driver.objectNames()).isEmpty();
  }

  /** It has only an owner reference, and one of its storage classes blocks the migration. */
  @Test
  void volumesBlockTheDeletionOfADriverFromAPreviousRelease() {
    sandbox.create(
        new StorageClassBuilder()
            .withNewMetadata()
            .withName(driver.name() + "-first")
            .endMetadata()
            .withProvisioner(driverName())
            .build());
    driver.create();
    driver.awaitSyncError("exists, but was not created for this resource");
    HasMetadata earlier =
        driver.rendered().stream().filter(DaemonSet.class::isInstance).findFirst().orElseThrow();
    earlier.getMetadata().setLabels(Map.of());
    earlier
        .getMetadata()
        .setOwnerReferences(
            List.of(
                new OwnerReferenceBuilder()
                    .withApiVersion(driver.get().getApiVersion())
                    .withKind(driver.get().getKind())
                    .withName(driver.name())
                    .withUid(driver.get().getMetadata().getUid())
                    .build()));
    client.resource(earlier).create();
    PersistentVolume volume = createVolume(driverName());

    driver.resource().delete();

    awaitHeld("The driver %s is not removed yet".formatted(driverName()));
    assertThat(driver.daemonSet()).isNotNull();

    client.resource(volume).delete();
    triggerReconciliation();

    driver.awaitDeleted();
  }

  @Test
  void driverWithVolumesIsNotRenamed() {
    driver.create();
    driver.awaitSynced();
    PersistentVolume volume = createVolume(driverName());
    List<String> before = versions();

    driver.patch("{\"spec\":{\"driverName\":\"renamed-%s.example.com\"}}".formatted(driver.name()));

    driver.awaitSyncError(
        "driverName cannot change to renamed-%s.example.com yet. The driver %s is not removed yet,"
                .formatted(driver.name(), driverName())
            + " because these need it: 1 PersistentVolume");
    assertThat(versions()).isEqualTo(before);

    client.resource(volume).delete();
    triggerReconciliation();

    driver.awaitSynced();
    assertThat(driver.objectNames())
        .contains("CSIDriver renamed-%s.example.com".formatted(driver.name()))
        .doesNotContain("CSIDriver " + driverName());
  }

  @Test
  void csiDriverThatAUserDeletesDuringARenameIsRecreated() {
    driver.create();
    driver.awaitSynced();
    PersistentVolume volume = createVolume(driverName());
    driver.patch("{\"spec\":{\"driverName\":\"%s\"}}".formatted(renamed("first")));
    driver.awaitSyncError("driverName cannot change to " + renamed("first"));

    client.storage().v1().csiDrivers().withName(driverName()).delete();
    await("recreated").atMost(TIMEOUT).until(this::isRegistered);
    operator.stop();
    client.storage().v1().csiDrivers().withName(driverName()).delete();
    operator.start();
    await("recreated later").atMost(TIMEOUT).until(this::isRegistered);
    driver.patch("{\"spec\":{\"driverName\":\"%s\"}}".formatted(renamed("second")));

    driver.awaitSyncError(
        "driverName cannot change to %s yet. The driver %s is not removed yet"
            .formatted(renamed("second"), driverName()));
    driver.resource().delete();
    awaitHeld("The driver %s is not removed yet".formatted(driverName()));
    assertThat(driver.daemonSet()).isNotNull();

    client.resource(volume).delete();
    triggerReconciliation();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void volumesOfTheNewDriverBlockTheDeletionWhileTheFormerOneExists() {
    driver.create();
    driver.awaitSynced();
    hold(true);
    driver.patch("{\"spec\":{\"driverName\":\"%s\"}}".formatted(renamed("now")));
    driver.awaitSyncError("waiting until CSIDriver \"%s\" is deleted".formatted(driverName()));
    PersistentVolume volume = createVolume(renamed("now"));

    driver.resource().delete();

    awaitHeld("The driver %s is not removed yet".formatted(renamed("now")));
    assertThat(driver.daemonSet()).isNotNull();

    client.resource(volume).delete();
    hold(false);
    triggerReconciliation();

    driver.awaitDeleted();
    assertThat(driver.objectNames()).isEmpty();
  }

  private boolean isRegistered() {
    return client.storage().v1().csiDrivers().withName(driverName()).get() != null;
  }

  /** Sorts after the previous name. */
  private String renamed(String how) {
    return "renamed-%s-%s.example.com".formatted(how, driver.name());
  }

  /** Adds or removes a finalizer of another controller on the CSIDriver. */
  private void hold(boolean held) {
    Edits.edit(
        client.storage().v1().csiDrivers().withName(driverName()),
        found -> {
          found.getMetadata().setFinalizers(held ? List.of("example.com/held") : List.of());
          return found;
        });
  }

  @Test
  void objectWithAFinalizerIsReportedDuringTheDeletion() {
    driver.create();
    driver.awaitSynced();
    var held = client.storage().v1().storageClasses().withName(driver.name() + "-first");
    Edits.edit(
        held,
        found -> {
          found.getMetadata().setFinalizers(List.of("example.com/held"));
          return found;
        });

    driver.resource().delete();

    driver.awaitSyncError(
        "waiting until StorageClass \"%s-first\" is deleted".formatted(driver.name()));
    Edits.edit(
        held,
        found -> {
          found.getMetadata().setFinalizers(List.of());
          return found;
        });
    driver.awaitDeleted();
  }

  @Test
  void rejectionByTheServerIsReportedDuringTheDeletion() {
    driver.create();
    driver.awaitSynced();
    String role = "pmem-csi-operator";
    var before = client.rbac().clusterRoles().withName(role).get();
    Edits.edit(
        client.rbac().clusterRoles().withName(role),
        found -> {
          found.getRules().stream()
              .filter(rule -> rule.getResources().contains("storageclasses"))
              .forEach(
                  rule ->
                      rule.setVerbs(
                          rule.getVerbs().stream()
                              .filter(verb -> !verb.equals("delete"))
                              .toList()));
          return found;
        });
    try {
      // the authorizer observes it a moment later
      await().atMost(TIMEOUT).until(() -> !operatorMayDeleteClasses());
      driver.resource().delete();

      driver.awaitSyncError("the API server refuses: storageclasses.storage.k8s.io");
    } finally {
      Edits.edit(
          client.rbac().clusterRoles().withName(role),
          found -> {
            found.setRules(before.getRules());
            return found;
          });
    }
    driver.awaitDeleted();
  }

  @Test
  void terminatingNamespaceIsReportedWhileVolumesNeedTheDriver() {
    String namespace = sandbox.namespace() + "-end";
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build())
        .create();
    driver = new TemplateResource(client, namespace, driver.name());
    driver.create();
    driver.awaitSynced();
    PersistentVolume volume = createVolume(driverName());

    client.namespaces().withName(namespace).delete();

    awaitHeld("1 PersistentVolume");
    driver.awaitSyncError("the namespace %s is being deleted".formatted(namespace));
    client.resource(volume).delete();
    triggerReconciliation();
    await().atMost(TIMEOUT).until(() -> client.namespaces().withName(namespace).get() == null);
    assertThat(driver.objectNames()).isEmpty();
  }

  /** The documented procedure when no operator runs any more. */
  @Test
  void withoutAnOperatorAUserCanRemoveTheFinalizer() {
    driver.create();
    driver.awaitSynced();
    operator.stop();
    try {
      driver.resource().delete();
      assertThat(driver.get()).isNotNull();

      Edits.edit(
          driver.resource(),
          found -> {
            found.getMetadata().setFinalizers(List.of());
            return found;
          });

      driver.awaitDeleted();
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () ->
                  assertThat(driver.objects())
                      .as("the garbage collector deletes the namespaced objects")
                      .isNotEmpty()
                      .allMatch(object -> object.getMetadata().getNamespace() == null));
      driver.objects().forEach(left -> client.resource(left).delete());
    } finally {
      operator.start();
    }
  }

  private boolean operatorMayDeleteClasses() {
    return sandbox.may(OperatorInstallation.NAME, "delete", "storage.k8s.io", "storageclasses");
  }

  private void awaitHeld(String message) {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () ->
                assertThat(driver.status().condition("DeletionHeld").map(DriverCondition::message))
                    .as(driver.status().toString())
                    .hasValueSatisfying(text -> assertThat(text).contains(message)));
  }

  /** Triggers a reconciliation, which the operator would also schedule within seconds. */
  private void triggerReconciliation() {
    try {
      driver.patch(
          "{\"metadata\":{\"annotations\":{\"trigger\":\"%d\"}}}".formatted(System.nanoTime()));
    } catch (KubernetesClientException e) {
      if (e.getCode() != HTTP_NOT_FOUND) {
        throw e;
      }
    }
  }

  private void awaitObjects(int number) {
    await().atMost(TIMEOUT).untilAsserted(() -> assertThat(driver.objects()).hasSize(number));
  }

  private void force() {
    driver.patch(
        "{\"metadata\":{\"annotations\":"
            + "{\"csidriver.storage.openshift.io/force-deletion\":\"true\"}}}");
  }

  private String driverName() {
    return driver.name() + ".csi.example.com";
  }

  private List<String> versions() {
    return driver.objects().stream()
        .map(
            object ->
                object.getKind()
                    + object.getMetadata().getGeneration()
                    + object.getMetadata().getUid())
        .toList();
  }

  /** A finalizer replaces a kubelet that unmounts. */
  private Pod inlineUser() {
    return new PodBuilder()
        .withNewMetadata()
        .withName(driver.name())
        .withNamespace(sandbox.namespace())
        .withFinalizers("example.com/mounted")
        .endMetadata()
        .withNewSpec()
        .withNodeName("nowhere")
        .withAutomountServiceAccountToken(false)
        .addNewContainer()
        .withName("c")
        .withImage("any")
        .endContainer()
        .addNewVolume()
        .withName("v")
        .withNewCsi()
        .withDriver(driverName())
        .endCsi()
        .endVolume()
        .endSpec()
        .build();
  }

  private PersistentVolume createVolume(String of) {
    return sandbox.create(CsiVolumes.volume("volume-of-" + driver.name(), of));
  }
}
