package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBuilder;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.pmem.LostNode;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Volumes on nodes that were deleted: reported, and released only where a user wants that. */
@WithKubernetes
class LostNodesIT {

  private static final String DRIVER = "lost.example.com";
  private static final String FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";
  private static final String AFTER_A_DAY = "lostNodes: {releaseAfter: 24h}, logLevel: %d";

  private Sandbox sandbox;
  private KubernetesClient client;
  private TestDriver driver;
  private InstalledOperator operator;
  private volatile Duration offset = Duration.ZERO;
  private int edits;

  @BeforeEach
  void install(Sandbox given) {
    sandbox = given;
    client = given.client();
    driver = new TestDriver(given, DRIVER);
    operator =
        InstalledOperator.install(given).withClock(new FakeClock(() -> Instant.now().plus(offset)));
    operator.start();
  }

  @Test
  void volumesClaimsAndPodsOfADeletedNodeAreReported() {
    driver.create("");
    Node node = node("lost-1");
    node("lost-2");
    PersistentVolumeClaim claim = boundClaim(volume("lost-reported", DRIVER, "lost-1", "Delete"));
    pod(claim);
    volume("lost-on-other-node", DRIVER, "lost-2", "Delete");
    volume("lost-other-driver", "other.example.com", "lost-1", "Delete");

    client.resource(node).delete();
    await()
        .untilAsserted(
            () ->
                assertThat(driver.status().lostNodes())
                    .singleElement()
                    .returns("lost-1", LostNode::node)
                    .returns(List.of("lost-reported"), lost -> lost.volumes().names())
                    .returns(List.of(sandbox.namespace() + "/c"), lost -> lost.claims().names())
                    .returns(List.of(sandbox.namespace() + "/p"), lost -> lost.pods().names()));
    assertThat(driver.condition("NodesLost").orElseThrow().message()).contains("lost-1");
    assertThat(driver.events()).contains("NodesLost");

    // without a policy nothing is ever released
    offset = Duration.ofDays(100);
    driver.setSpec("logLevel: 4");
    awaitReconciled();
    assertThat(client.resource(claim).get().getMetadata().getDeletionTimestamp()).isNull();
    assertThat(client.persistentVolumes().withName("lost-reported").get()).isNotNull();

    node("lost-1");
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).isEmpty());
    assertThat(driver.condition("NodesLost")).isEmpty();
  }

  @Test
  void volumesAreReleasedAfterTheGracePeriod() {
    driver.create(policy());
    Node node = node("lost-1");
    node("lost-2");
    PersistentVolumeClaim claim = boundClaim(volume("lost-released", DRIVER, "lost-1", "Delete"));
    volume("lost-on-other-node", DRIVER, "lost-2", "Delete");
    volume("lost-other-driver", "other.example.com", "lost-1", "Delete");
    client.resource(node).delete();
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).hasSize(1));

    offset = Duration.ofHours(23);
    driver.setSpec(policy());
    awaitReconciled();
    assertThat(client.resource(claim).get().getMetadata().getDeletionTimestamp()).isNull();

    offset = Duration.ofHours(25);
    driver.setSpec(policy());
    await()
        .untilAsserted(
            () -> {
              assertThat(client.resource(claim).get()).isNull();
              assertThat(client.persistentVolumes().withName("lost-released").get()).isNull();
            });
    assertThat(List.of("lost-on-other-node", "lost-other-driver"))
        .allSatisfy(
            name ->
                assertThat(client.persistentVolumes().withName(name).get().getMetadata())
                    .satisfies(kept -> assertThat(kept.getDeletionTimestamp()).isNull())
                    .satisfies(kept -> assertThat(kept.getFinalizers()).contains(FINALIZER)));
  }

  @Test
  void aNodeThatReturnsKeepsItsVolumes() {
    driver.create(policy());
    Node node = node("lost-1");
    PersistentVolumeClaim claim = boundClaim(volume("lost-returned", DRIVER, "lost-1", "Delete"));
    client.resource(node).delete();
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).hasSize(1));
    Node again = node("lost-1");
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).isEmpty());

    offset = Duration.ofHours(25);
    driver.setSpec(policy());
    awaitReconciled();
    assertThat(client.resource(claim).get().getMetadata().getDeletionTimestamp()).isNull();

    // the grace period begins again
    client.resource(again).delete();
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).hasSize(1));
    driver.setSpec(policy());
    awaitReconciled();
    assertThat(client.resource(claim).get().getMetadata().getDeletionTimestamp()).isNull();
  }

  /** No operator has seen since when the Node does not exist this time. */
  @Test
  void aNodeThatReturnedWhileNoOperatorRanKeepsItsVolumes() {
    driver.create(policy());
    Node node = node("lost-1");
    PersistentVolumeClaim claim = boundClaim(volume("lost-unseen", DRIVER, "lost-1", "Delete"));
    client.resource(node).delete();
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).hasSize(1));
    operator.stop();
    client.resource(node("lost-1")).delete();
    offset = Duration.ofHours(25);
    driver.setSpec(policy());

    operator.start();
    awaitReconciled();
    assertThat(client.resource(claim).get().getMetadata().getDeletionTimestamp()).isNull();

    offset = Duration.ofHours(50);
    driver.setSpec(policy());
    await().untilAsserted(() -> assertThat(client.resource(claim).get()).isNull());
  }

  @Test
  void aRetainedVolumeLosesOnlyItsClaim() {
    driver.create(policy());
    Node node = node("lost-1");
    PersistentVolumeClaim claim = boundClaim(volume("lost-retained", DRIVER, "lost-1", "Retain"));
    client.resource(node).delete();
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).hasSize(1));
    offset = Duration.ofHours(25);
    driver.setSpec(policy());
    await().untilAsserted(() -> assertThat(client.resource(claim).get()).isNull());
    awaitReconciled();
    assertThat(client.persistentVolumes().withName("lost-retained").get().getMetadata())
        .returns(null, kept -> kept.getDeletionTimestamp());
  }

  @Test
  void aClaimThatMustNotBeDeletedHoldsUpNoOther() {
    driver.create(policy());
    Node node = node("lost-1");
    PersistentVolumeClaim kept = boundClaim(volume("lost-a-kept", DRIVER, "lost-1", "Delete"));
    volume("lost-b-released", DRIVER, "lost-1", "Delete");
    client.resource(node).delete();
    await().untilAsserted(() -> assertThat(driver.status().lostNodes()).hasSize(1));
    forbidDeletionOfClaims();

    offset = Duration.ofHours(25);
    driver.setSpec(policy());

    await()
        .untilAsserted(
            () ->
                assertThat(client.persistentVolumes().withName("lost-b-released").get()).isNull());
    await()
        .untilAsserted(
            () ->
                assertThat(driver.condition("NodesLost").orElseThrow().message())
                    .contains("Cannot be released: volume lost-a-kept: ")
                    .contains("forbidden"));
    awaitReconciled();
    assertThat(driver.status().phaseOrNew()).isEqualTo("Initializing");
    assertThat(client.resource(kept).get().getMetadata().getDeletionTimestamp()).isNull();
  }

  private void forbidDeletionOfClaims() {
    var role = client.rbac().clusterRoles().withName(OperatorInstallation.NAME);
    ClusterRole complete = role.get();
    sandbox.cleanUp(
        () ->
            role.edit(
                found -> new ClusterRoleBuilder(found).withRules(complete.getRules()).build()));
    role.edit(
        found ->
            new ClusterRoleBuilder(found)
                .withRules(
                    found.getRules().stream()
                        .map(
                            rule ->
                                rule.getResources().contains("persistentvolumeclaims")
                                    ? new PolicyRuleBuilder(rule).removeFromVerbs("delete").build()
                                    : rule)
                        .toList())
                .build());
    await()
        .until(
            () ->
                !sandbox
                    .clientAs(OperatorInstallation.NAME)
                    .authorization()
                    .v1()
                    .selfSubjectAccessReview()
                    .create(
                        new SelfSubjectAccessReviewBuilder()
                            .withNewSpec()
                            .withNewResourceAttributes()
                            .withNamespace(sandbox.namespace())
                            .withVerb("delete")
                            .withResource("persistentvolumeclaims")
                            .endResourceAttributes()
                            .endSpec()
                            .build())
                    .getStatus()
                    .getAllowed());
  }

  /** It has no grace period, so that nothing is released. */
  @Test
  void aDeploymentReportsLostNodes() {
    var legacy = new LegacyDeployment();
    legacy.getMetadata().setName("lost");
    legacy.setSpec(
        new KubernetesSerialization()
            .unmarshal("spec: {driverName: %s}".formatted(DRIVER), LegacyDeployment.class)
            .getSpec());
    client.resource(legacy).create();
    Resource<LegacyDeployment> self = client.resources(LegacyDeployment.class).withName("lost");
    sandbox.cleanUp(() -> Leftovers.remove(client, self, sandbox.namespace(), "lost", DRIVER));
    Node node = node("lost-1");
    PersistentVolume volume = volume("lost-reported", DRIVER, "lost-1", "Delete");

    client.resource(node).delete();

    await()
        .untilAsserted(
            () -> {
              PmemCSIDeploymentStatus status = self.get().getStatus();
              assertThat(status.lostNodes()).extracting(LostNode::node).containsExactly("lost-1");
              assertThat(status.condition("NodesLost").orElseThrow().message()).contains("lost-1");
            });
    assertThat(client.resource(volume).get().getMetadata().getDeletionTimestamp()).isNull();
    node("lost-1");
    await().untilAsserted(() -> assertThat(self.get().getStatus().lostNodes()).isEmpty());
  }

  /** Another spec each time, so that the resource is reconciled. */
  private String policy() {
    edits++;
    return AFTER_A_DAY.formatted(edits);
  }

  private void awaitReconciled() {
    long generation = driver.self().get().getMetadata().getGeneration();
    await()
        .untilAsserted(
            () -> assertThat(driver.status().observedGeneration()).isEqualTo(generation));
  }

  private Node node(String name) {
    return sandbox.create(
        new NodeBuilder()
            .withNewMetadata()
            .withName(name)
            .addToLabels("storage", "pmem")
            .endMetadata()
            .build());
  }

  private PersistentVolume volume(String name, String csiDriver, String node, String policy) {
    PersistentVolume volume =
        client
            .resource(
                new PersistentVolumeBuilder(CsiVolumes.volume(name, csiDriver))
                    .editMetadata()
                    .addToFinalizers(FINALIZER)
                    .endMetadata()
                    .editSpec()
                    .withPersistentVolumeReclaimPolicy(policy)
                    .withNewNodeAffinity()
                    .withNewRequired()
                    .addNewNodeSelectorTerm()
                    .addNewMatchExpression()
                    .withKey(csiDriver + "/node")
                    .withOperator("In")
                    .withValues(node)
                    .endMatchExpression()
                    .endNodeSelectorTerm()
                    .endRequired()
                    .endNodeAffinity()
                    .endSpec()
                    .build())
            .create();
    sandbox.cleanUp(() -> remove(volume));
    return volume;
  }

  private void remove(PersistentVolume volume) {
    client.resource(volume).delete();
    if (client.resource(volume).get() != null) {
      client
          .resource(volume)
          .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\":{\"finalizers\":null}}");
    }
  }

  private PersistentVolumeClaim boundClaim(PersistentVolume volume) {
    PersistentVolumeClaim claim =
        client
            .resource(
                new PersistentVolumeClaimBuilder()
                    .withNewMetadata()
                    .withName("c")
                    .withNamespace(sandbox.namespace())
                    .endMetadata()
                    .withNewSpec()
                    .withStorageClassName("")
                    .withVolumeName(volume.getMetadata().getName())
                    .withAccessModes("ReadWriteOnce")
                    .withNewResources()
                    .addToRequests("storage", new Quantity("1Gi"))
                    .endResources()
                    .endSpec()
                    .build())
            .create();
    await()
        .untilAsserted(
            () ->
                assertThat(client.resource(volume).get().getStatus().getPhase())
                    .isEqualTo("Bound"));
    return claim;
  }

  /** Waits for its node for ever. */
  private void pod(PersistentVolumeClaim claim) {
    client
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName("p")
                .withNamespace(sandbox.namespace())
                .endMetadata()
                .withNewSpec()
                .withAutomountServiceAccountToken(false)
                .addNewContainer()
                .withName("c")
                .withImage("none")
                .endContainer()
                .addNewVolume()
                .withName("v")
                .withNewPersistentVolumeClaim(claim.getMetadata().getName(), false)
                .endVolume()
                .endSpec()
                .build())
        .create();
  }
}
