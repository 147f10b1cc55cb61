package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.ValidatingAdmissionPolicy;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIStorageCapacity;
import io.fabric8.kubernetes.api.model.storage.CSIStorageCapacityBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What the token of a driver's pod on one node can be used for. */
@WithKubernetes(controllers = false, perClass = true)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NodeAdmissionPolicyIT {

  private static final String DRIVER = "policy.example.com";
  private static final String HERE = "policy-node-1";
  private static final String ELSEWHERE = "policy-node-2";
  private static final String PREFIX = "policy-example-com";
  private static final String SELECTED = "volume.kubernetes.io/selected-node";
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);
  private static final String PROVISIONER_FINALIZER =
      "external-provisioner.volume.kubernetes.io/finalizer";

  private Sandbox sandbox;
  private KubernetesClient admin;
  private KubernetesClient node;

  @BeforeAll
  void install(Sandbox given) {
    assumeTrue(
        given.version().isAtLeast(1, 32),
        "tokens contain the node of their pod from Kubernetes 1.32 on: let KUBEBUILDER_ASSETS name"
            + " the binaries of a newer release");
    sandbox = given;
    admin = given.client();
    SnapshotClassesIT.serveSnapshots(given);
    InstalledOperator.install(given).start();
    var driver = new TestDriver(given, DRIVER);
    driver.create("startupTaint: true");
    driver.awaitPhase("Initializing");
    for (String name : List.of(HERE, ELSEWHERE)) {
      given.create(new NodeBuilder().withNewMetadata().withName(name).endMetadata().build());
    }
    node = given.clientOf(pod(PREFIX + "-controller", HERE));
    await()
        .untilAsserted(
            () ->
                assertRefused(() -> node.resource(volume("policy-too-early", ELSEWHERE)).create()));
  }

  @Test
  void volumesOfThisNodeAreCreatedChangedAndDeleted() {
    PersistentVolume volume = node.resource(volume("policy-own", HERE)).create();
    patch(volume, "{metadata: {finalizers: [%s]}}".formatted(PROVISIONER_FINALIZER));
    patch(volume, "{metadata: {finalizers: null}, spec: {persistentVolumeReclaimPolicy: Retain}}");
    node.resource(volume).delete();
    assertThat(admin.resource(volume).get()).isNull();
  }

  @Test
  void noOtherVolumesAreCreatedOrDeleted() {
    assertRefused(() -> node.resource(volume("policy-other", ELSEWHERE)).create());
    assertRefused(() -> node.resource(CsiVolumes.volume("policy-anywhere", DRIVER)).create());
    PersistentVolume ofOtherDriver = volume("policy-foreign", HERE);
    ofOtherDriver.getSpec().getCsi().setDriver("other.example.com");
    assertRefused(() -> node.resource(ofOtherDriver).create());
    PersistentVolume hostPath =
        new PersistentVolumeBuilder(volume("policy-host-path", HERE))
            .editSpec()
            .withCsi(null)
            .withNewHostPath("/etc", "Directory")
            .endSpec()
            .build();
    assertRefused(() -> node.resource(hostPath).create());
    PersistentVolume onEither = volume("policy-either", HERE);
    var terms = onEither.getSpec().getNodeAffinity().getRequired().getNodeSelectorTerms();
    terms.addAll(
        volume("any", ELSEWHERE).getSpec().getNodeAffinity().getRequired().getNodeSelectorTerms());
    assertRefused(() -> node.resource(onEither).create());

    PersistentVolume elsewhere = create(volume("policy-elsewhere", ELSEWHERE));
    assertRefused(() -> node.resource(elsewhere).delete());
    assertRefused(() -> patch(elsewhere, "{spec: {claimRef: {namespace: default, name: stolen}}}"));
    assertRefused(() -> patch(elsewhere, "{spec: {persistentVolumeReclaimPolicy: Retain}}"));
    assertRefused(() -> patch(elsewhere, "{metadata: {labels: {a: b}}}"));
  }

  @Test
  void sidecarsOfAnyNodeSetFinalizersAndCapacities() {
    PersistentVolume volume = create(volume("policy-shared", ELSEWHERE));
    // as each provisioner does
    String finalizers = "{metadata: {finalizers: [kubernetes.io/pv-protection, %s]}}";
    String without = "{metadata: {finalizers: [kubernetes.io/pv-protection]}}";
    patch(volume, finalizers.formatted(PROVISIONER_FINALIZER));
    assertRefused(() -> patch(volume, without));
    // as the elected resizer does
    String annotation = "volume.alpha.kubernetes.io/pre-resize-capacity";
    patch(
        volume,
        "{metadata: {annotations: {%s: 1Gi}}, spec: {capacity: {storage: 2Gi}}}"
            .formatted(annotation));
    patch(volume, "{metadata: {annotations: {%s: null}}}".formatted(annotation));
    // as it does when the user gives up an expansion that does not fit
    patch(volume, "{spec: {capacity: {storage: 1536Mi}}}");
    assertRefused(() -> patch(volume, "{metadata: {annotations: {a: b}}}"));
    assertRefused(
        () -> patch(volume, "{metadata: {finalizers: [%s]}}".formatted(PROVISIONER_FINALIZER)));
    // a volume that is retained needs no provisioner
    admin.resource(volume).patch(MERGE, json("{spec: {persistentVolumeReclaimPolicy: Retain}}"));
    patch(volume, without);
  }

  @Test
  void claimsAreSelectedForThisNodeOnly() {
    PersistentVolumeClaim claim = claim("own", DRIVER, Map.of());
    update(claim, changed -> changed.getMetadata().getAnnotations().put(SELECTED, HERE));
    update(claim, changed -> changed.getMetadata().getAnnotations().remove(SELECTED));
    assertRefused(
        () ->
            update(
                claim, changed -> changed.getMetadata().getAnnotations().put(SELECTED, ELSEWHERE)));
    assertRefused(
        () -> update(claim, changed -> changed.getMetadata().getAnnotations().put("a", "b")));
    assertRefused(
        () -> update(claim, changed -> changed.getMetadata().setLabels(Map.of("a", "b"))));

    PersistentVolumeClaim elsewhere = claim("elsewhere", DRIVER, Map.of(SELECTED, ELSEWHERE));
    assertRefused(
        () ->
            update(elsewhere, changed -> changed.getMetadata().getAnnotations().remove(SELECTED)));
    assertRefused(
        () ->
            update(
                elsewhere, changed -> changed.getMetadata().getAnnotations().put(SELECTED, HERE)));

    PersistentVolumeClaim other = claim("other", "other.example.com", Map.of());
    assertRefused(
        () -> update(other, changed -> changed.getMetadata().getAnnotations().put(SELECTED, HERE)));
  }

  @Test
  void claimsToCloneAreProtectedByAnyNode() {
    String protection = "provisioner.storage.kubernetes.io/cloning-protection";
    PersistentVolumeClaim source = claim("source", DRIVER, Map.of(SELECTED, ELSEWHERE));
    update(source, changed -> changed.getMetadata().getFinalizers().add(protection));
    update(source, changed -> changed.getMetadata().getFinalizers().remove(protection));
    assertRefused(() -> update(source, changed -> changed.getMetadata().getFinalizers().clear()));
  }

  @Test
  void statusOfClaimsShowsExpansionsOnly() {
    PersistentVolumeClaim claim = claim("expanded", DRIVER, Map.of(SELECTED, ELSEWHERE));
    patchStatus(
        claim,
        """
        {status: {allocatedResources: {storage: 2Gi},
          conditions: [{type: FileSystemResizePending, status: "True"}]}}""");
    assertRefused(() -> patchStatus(claim, "{status: {phase: Lost}}"));
    assertRefused(
        () -> patchStatus(claim, "{metadata: {annotations: {%s: %s}}}".formatted(SELECTED, HERE)));
    assertRefused(() -> patchStatus(claim, "{metadata: {finalizers: null}}"));
    PersistentVolumeClaim other = claim("other-status", "other.example.com", Map.of());
    assertRefused(() -> patchStatus(other, "{status: {allocatedResources: {storage: 2Gi}}}"));
    PersistentVolumeClaim bound = claim("statically-bound", DRIVER, Map.of());
    admin
        .resource(bound)
        .patch(
            MERGE,
            json("{metadata: {annotations: {volume.kubernetes.io/storage-provisioner: null}}}"));
    assertRefused(() -> patchStatus(bound, "{status: {allocatedResources: {storage: 2Gi}}}"));
  }

  @Test
  void onlyTheCapacityOfThisNodeIsPublished() {
    CSIStorageCapacity own = node.resource(capacity("own", HERE)).create();
    own.setCapacity(new Quantity("2Gi"));
    node.resource(own).update();
    node.resource(own).delete();
    assertRefused(() -> node.resource(capacity("other", ELSEWHERE)).create());
    CSIStorageCapacity elsewhere = admin.resource(capacity("elsewhere", ELSEWHERE)).create();
    assertRefused(() -> node.resource(elsewhere).delete());
    elsewhere.setCapacity(new Quantity("2Gi"));
    assertRefused(() -> node.resource(elsewhere).update());
    // by this error the provisioner learns that the server has the API
    assertThatThrownBy(() -> node.resource(capacity("#%123-invalid-name", HERE)).create())
        .asInstanceOf(InstanceOfAssertFactories.type(KubernetesClientException.class))
        .returns(422, KubernetesClientException::getCode);
  }

  @Test
  void onlySnapshotsOfThisNodeAreReported() {
    GenericKubernetesResource own = create(snapshot("policy-own", HERE));
    GenericKubernetesResource elsewhere = create(snapshot("policy-elsewhere", ELSEWHERE));
    String annotation = "{metadata: {annotations: {snapshot.storage.kubernetes.io/x: y}}}";
    patch(own, annotation);
    patchStatus(own, "{status: {readyToUse: true}}");
    assertRefused(() -> patch(elsewhere, annotation));
    assertRefused(() -> patchStatus(elsewhere, "{status: {readyToUse: true}}"));
    assertRefused(
        () ->
            patch(
                elsewhere,
                "{metadata: {labels: {snapshot.storage.kubernetes.io/managed-by: %s}}}"
                    .formatted(HERE)));
  }

  @Test
  void onlyTheLeaseOfTheResizerIsTaken() {
    Lease lease = node.resource(lease("external-resizer-policy-example-com")).create();
    lease.getSpec().setHolderIdentity("another");
    node.resource(lease).update();
    assertRefused(() -> node.resource(lease("pmem-csi-operator")).create());
  }

  @Test
  void nodeSetupChangesItsOwnNodeOnly() {
    KubernetesClient setup = sandbox.clientOf(pod(PREFIX + "-node-setup", HERE));
    label(HERE, setup);
    assertRefused(() -> label(ELSEWHERE, setup));
  }

  @Test
  void theDriverRemovesOnlyTheStartupTaintOfItsOwnNode() {
    for (String name : List.of(HERE, ELSEWHERE)) {
      taint(name, "%s/agent-not-ready".formatted(DRIVER), "other");
    }
    assertRefused(() -> patchTaints(ELSEWHERE, "[{key: other, effect: NoSchedule}]"));
    assertRefused(() -> patchTaints(HERE, "[]"));
    assertRefused(
        () ->
            patchTaints(
                HERE, "[{key: other, effect: NoSchedule}, {key: new, effect: NoSchedule}]"));
    assertRefused(() -> label(HERE, node));
    assertRefused(
        () ->
            node.nodes()
                .withName(HERE)
                .patch(
                    MERGE,
                    json(
                        "{spec: {unschedulable: true, taints: [{key: other, effect:"
                            + " NoSchedule}]}}")));

    patchTaints(HERE, "[{key: other, effect: NoSchedule}]");

    assertThat(admin.nodes().withName(HERE).get().getSpec().getTaints())
        .singleElement()
        .returns("other", Taint::getKey);
  }

  private void taint(String nodeName, String... keys) {
    admin
        .nodes()
        .withName(nodeName)
        .patch(
            MERGE,
            json(
                "{spec: {taints: [%s]}}"
                    .formatted(
                        Arrays.stream(keys)
                            .map("{key: %s, effect: NoSchedule}"::formatted)
                            .collect(Collectors.joining(", ")))));
  }

  private void patchTaints(String nodeName, String taints) {
    node.nodes().withName(nodeName).patch(MERGE, json("{spec: {taints: %s}}".formatted(taints)));
  }

  /** In one request, which only needs the permission to patch. */
  private static void label(String nodeName, KubernetesClient client) {
    client
        .resource(
            new NodeBuilder()
                .withNewMetadata()
                .withName(nodeName)
                .addToLabels("storage", "pmem")
                .endMetadata()
                .build())
        .fieldManager("node-setup")
        .serverSideApply();
  }

  @Test
  void aTokenWithoutPodIsOfNoUse() {
    KubernetesClient unbound = sandbox.clientAs(PREFIX + "-controller");
    assertThatThrownBy(() -> unbound.resource(volume("policy-unbound", HERE)).create())
        .hasMessageContaining("names no node");
  }

  @Test
  void thePolicyIsRestoredAndRemovedWithItsDriver() {
    var policies = admin.resources(ValidatingAdmissionPolicy.class);
    var policy = policies.withName(PREFIX + "-node-policy");
    String uid = policy.get().getMetadata().getUid();
    policy.delete();
    await()
        .untilAsserted(
            () ->
                assertThat(policy.get())
                    .isNotNull()
                    .satisfies(
                        found -> assertThat(found.getMetadata().getUid()).isNotEqualTo(uid)));
    var other = new TestDriver(sandbox, "removed.example.com");
    other.create("");
    await().until(() -> policies.withName("removed-example-com-node-policy").get() != null);
    other.self().delete();
    other.awaitDeleted();
    assertThat(policies.withName("removed-example-com-node-policy").get()).isNull();
  }

  private static void assertRefused(ThrowingCallable write) {
    assertThatThrownBy(write)
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("a pod on a node may write only");
  }

  private void patch(HasMetadata object, String change) {
    node.resource(object).patch(MERGE, json(change));
  }

  private void patchStatus(HasMetadata object, String change) {
    node.resource(object).subresource("status").patch(MERGE, json(change));
  }

  private static String json(String yaml) {
    // the first line keeps the client from taking it for JSON
    return Serialization.asJson(Serialization.unmarshal("---\n" + yaml, Map.class));
  }

  /** As an update of the current version: the account has no permission to patch claims. */
  private void update(PersistentVolumeClaim claim, Consumer<PersistentVolumeClaim> change) {
    PersistentVolumeClaim current = admin.resource(claim).get();
    change.accept(current);
    node.resource(current).update();
  }

  /** Deletes it at the end, although no controller removes finalizers. */
  private <T extends HasMetadata> T create(T object) {
    T created = admin.resource(object).create();
    sandbox.cleanUp(
        () -> {
          admin.resource(created).patch(MERGE, json("{metadata: {finalizers: null}}"));
          admin.resource(created).delete();
        });
    return created;
  }

  private Pod pod(String account, String nodeName) {
    return admin
        .resource(
            new PodBuilder()
                .withNewMetadata()
                .withName(account + "-on-" + nodeName)
                .withNamespace(sandbox.namespace())
                .endMetadata()
                .withNewSpec()
                .withNodeName(nodeName)
                .withServiceAccountName(account)
                .withAutomountServiceAccountToken(false)
                .addNewContainer()
                .withName("driver")
                .withImage("none")
                .endContainer()
                .endSpec()
                .build())
        .create();
  }

  private static PersistentVolume volume(String name, String nodeName) {
    return new PersistentVolumeBuilder(CsiVolumes.volume(name, DRIVER))
        .editSpec()
        .withPersistentVolumeReclaimPolicy("Delete")
        .withNewNodeAffinity()
        .withNewRequired()
        .addNewNodeSelectorTerm()
        .addNewMatchExpression()
        .withKey(DRIVER + "/node")
        .withOperator("In")
        .withValues(nodeName)
        .endMatchExpression()
        .endNodeSelectorTerm()
        .endRequired()
        .endNodeAffinity()
        .endSpec()
        .build();
  }

  private PersistentVolumeClaim claim(String name, String driver, Map<String, String> annotations) {
    return create(
        new PersistentVolumeClaimBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace(sandbox.namespace())
            .addToAnnotations("volume.kubernetes.io/storage-provisioner", driver)
            .addToAnnotations(annotations)
            .endMetadata()
            .withNewSpec()
            .withAccessModes("ReadWriteOnce")
            .withNewResources()
            .addToRequests("storage", new Quantity("1Gi"))
            .endResources()
            .endSpec()
            .build());
  }

  private CSIStorageCapacity capacity(String name, String nodeName) {
    return new CSIStorageCapacityBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(sandbox.namespace())
        .endMetadata()
        .withStorageClassName("any")
        .withNewNodeTopology()
        .addToMatchLabels(DRIVER + "/node", nodeName)
        .endNodeTopology()
        .withCapacity(new Quantity("1Gi"))
        .build();
  }

  private Lease lease(String name) {
    return new LeaseBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(sandbox.namespace())
        .endMetadata()
        .withNewSpec()
        .withHolderIdentity("pod")
        .endSpec()
        .build();
  }

  private static GenericKubernetesResource snapshot(String name, String nodeName) {
    return Serialization.unmarshal(
        """
        apiVersion: snapshot.storage.k8s.io/v1
        kind: VolumeSnapshotContent
        metadata:
          name: %s
          labels: {snapshot.storage.kubernetes.io/managed-by: %s}
        spec: {driver: %s}
        """
            .formatted(name, nodeName, DRIVER),
        GenericKubernetesResource.class);
  }
}
