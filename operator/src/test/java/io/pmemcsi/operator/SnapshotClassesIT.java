package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.operator.objects.VolumeSnapshotClass;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The snapshot classes of a driver, on clusters with and without the API for snapshots. */
@WithKubernetes(controllers = false)
class SnapshotClassesIT {

  private static final String DRIVER = "classes.example.com";
  private static final String CONDITION = "SnapshotClassesMissing";
  private static final String KEPT =
      "snapshotClassTemplates: [{metadata: {name: classes-kept}, deletionPolicy: Retain}]";

  private Sandbox sandbox;
  private KubernetesClient client;
  private TestDriver driver;
  private InstalledOperator operator;

  @BeforeEach
  void install(Sandbox given) {
    sandbox = given;
    client = given.client();
    driver = new TestDriver(given, DRIVER);
    operator = InstalledOperator.install(given);
  }

  @Test
  void aClusterWithoutTheApiHasTheDriverWithoutClasses() {
    operator.start();
    driver.create(KEPT);

    driver.awaitPhase("Initializing");
    assertThat(driver.condition(CONDITION).orElseThrow().message())
        .contains("spec.snapshotClassTemplates is not applied")
        .contains("install the CRDs and the snapshot-controller");
    assertThat(driver.events()).contains(CONDITION);

    driver.setSpec("logLevel: 5");
    await().untilAsserted(() -> assertThat(driver.condition(CONDITION)).isEmpty());
  }

  @Test
  void theClassesOfADriverAreCreatedRepairedAndDeletedWithIt() {
    assumeTrue(
        sandbox.version().isAtLeast(1, 22),
        "snapshots on each node need Kubernetes 1.22: let KUBEBUILDER_ASSETS name the binaries of a"
            + " newer release");
    serveSnapshots(sandbox);
    operator.start();
    driver.create(
        KEPT.replace(
            "]", ", {metadata: {name: classes-other}, default: true, parameters: {a: b}}]"));

    Resource<VolumeSnapshotClass> kept = snapshotClass("classes-kept");
    Resource<VolumeSnapshotClass> other = snapshotClass("classes-other");
    await()
        .untilAsserted(
            () ->
                assertThat(kept.get())
                    .isNotNull()
                    .returns(DRIVER, VolumeSnapshotClass::getDriver)
                    .returns("Retain", VolumeSnapshotClass::getDeletionPolicy));
    await()
        .untilAsserted(
            () ->
                assertThat(other.get())
                    .isNotNull()
                    .returns("Delete", VolumeSnapshotClass::getDeletionPolicy)
                    .returns(Map.of("a", "b"), VolumeSnapshotClass::getParameters)
                    .satisfies(
                        found ->
                            assertThat(found.getMetadata().getAnnotations())
                                .containsEntry(
                                    "snapshot.storage.kubernetes.io/is-default-class", "true")));
    assertThat(driver.condition(CONDITION)).isEmpty();

    kept.edit(
        changed -> {
          changed.setDeletionPolicy("Delete");
          return changed;
        });
    await().untilAsserted(() -> assertThat(kept.get().getDeletionPolicy()).isEqualTo("Retain"));

    driver.setSpec(KEPT);
    await().untilAsserted(() -> assertThat(other.get()).isNull());
    driver.self().delete();
    driver.awaitDeleted();
    assertThat(kept.get()).isNull();
  }

  @Test
  void aDriverStaysUntilItsLastSnapshotIsDeleted() {
    serveSnapshots(sandbox);
    operator.start();
    driver.create("");
    driver.awaitPhase("Initializing");
    GenericKubernetesResource snapshot =
        sandbox.create(DriverUsageIT.snapshot("classes-snapshot", DRIVER));

    driver.self().delete();

    await()
        .untilAsserted(
            () ->
                assertThat(driver.condition("DeletionHeld").map(DeploymentCondition::message))
                    .hasValueSatisfying(
                        message ->
                            assertThat(message)
                                .contains("1 VolumeSnapshotContent (classes-snapshot of")));
    assertThat(driver.daemonSet().get()).isNotNull();
    client.resource(snapshot).delete();
    driver.awaitDeleted();
  }

  @Test
  void anOldServerIsNamed() {
    assumeTrue(
        !sandbox.version().isAtLeast(1, 22), "snapshots on each node work from Kubernetes 1.22 on");
    serveSnapshots(sandbox);
    operator.start();
    driver.create(KEPT);

    driver.awaitPhase("Initializing");

    assertThat(driver.condition(CONDITION).orElseThrow().message())
        .contains("need Kubernetes 1.22 or newer");
    assertThat(snapshotClass("classes-kept").get()).isNull();
  }

  private Resource<VolumeSnapshotClass> snapshotClass(String name) {
    return client.resources(VolumeSnapshotClass.class).withName(name);
  }

  /** Installs the API, without the rest of its schema. */
  static void serveSnapshots(Sandbox sandbox) {
    for (String kind : new String[] {"VolumeSnapshotContent", "VolumeSnapshotClass"}) {
      String plural = kind.endsWith("Class") ? "volumesnapshotclasses" : "volumesnapshotcontents";
      sandbox.create(
          Serialization.unmarshal(
              """
              metadata:
                name: %s.snapshot.storage.k8s.io
                annotations: {api-approved.kubernetes.io: unapproved}
              spec:
                group: snapshot.storage.k8s.io
                scope: Cluster
                names: {kind: %s, plural: %s}
                versions:
                - name: v1
                  served: true
                  storage: true
                  subresources: {status: {}}
                  schema:
                    openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
              """
                  .formatted(plural, kind, plural),
              CustomResourceDefinition.class));
      await()
          .until(
              () ->
                  sandbox.client().getApiResources("snapshot.storage.k8s.io/v1") != null
                      && sandbox
                          .client()
                          .getApiResources("snapshot.storage.k8s.io/v1")
                          .getResources()
                          .stream()
                          .anyMatch(resource -> resource.getKind().equals(kind)));
    }
  }
}
