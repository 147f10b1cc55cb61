package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentSpec;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Every field of the resource, changed one by one on a real API server: the objects always equal
 * the computed desired state, and no others are left.
 */
@WithKubernetes
class FieldsIT {

  private static final String PREVIOUS_CA_UNTIL = "pmem-csi.intel.com/previous-ca-until";
  private static final String NAME = "fields.example.com";
  private static final String H = "fields-example-com";

  private static final String MUST_ANSWER = "mutatePods: Always";

  /** From each line to the next one field changes, or a few that belong together. */
  private static final List<String> SPECS =
      List.of(
          "",
          "image: other:1",
          "image: other:1, pullPolicy: Always",
          "imagePullPolicy: Never",
          "provisionerImage: p:1",
          "resizerImage: e:1",
          "snapshotterImage: s:1",
          "nodeRegistrarImage: r:1",
          "registrarImage: r:2",
          "deviceMode: direct",
          "logLevel: 5",
          "logFormat: json",
          "nodeSelector: {a: b, c: d}",
          "nodeSelector: {a: b}",
          "nodeSelector: {}",
          "pmemPercentage: 50",
          "kubeletDir: /data/kubelet",
          "kubeletDir: /data/kubelet/",
          "maxUnavailable: 20%",
          "nodeDriverResources: {requests: {cpu: 110m}, limits: {memory: 1Gi}}",
          "nodeDriverResources: {requests: {cpu: 120m}}",
          "nodeResources: {requests: {cpu: 160m}}",
          "provisionerResources: {requests: {cpu: 130m}}",
          "nodeRegistrarResources: {requests: {cpu: 140m}}",
          "nodePods: {annotations: {a: b}, tolerations: [], priorityClassName: system-node-critical}",
          "sidecars: {provisioner: {extraArgs: [--kube-api-qps=7]}}",
          "sidecars: {resizer: {resources: {requests: {cpu: 180m}}}}",
          "startupTaint: true",
          "networkPolicies: false",
          "storageClassTemplates: [{metadata: {name: %s-class}, parameters: {numaNode: '0'}}]"
              .formatted(H),
          "storageClassTemplates: [{metadata: {name: %s-class}}]".formatted(H),
          "snapshotClassTemplates: [{metadata: {name: %s-snapshots}}]".formatted(H),
          "lostNodes: {releaseAfter: 24h}",
          "deletionPolicy: Immediate",
          "managementState: Managed",
          "controllerTLSSecret: tls",
          "controllerTLSSecret: tls, mutatePods: Never",
          "controllerTLSSecret: tls, " + MUST_ANSWER,
          "controllerTLSSecret: tls, mutatePods: Try",
          "controllerTLSSecret: tls, schedulerNodePort: 31234",
          "controllerTLSSecret: tls, schedulerNodePort: 0",
          "controllerTLSSecret: tls, controllerDriverResources: {requests: {cpu: 150m}}",
          "controllerTLSSecret: tls, controllerResources: {requests: {cpu: 170m}}",
          "controllerTLSSecret: tls, controllerReplicas: 3",
          "controllerTLSSecret: tls, controllReplicas: 2",
          "controllerTLSSecret: tls, controllerReplicas: 1",
          "controllerTLSSecret: tls, imagePullSecrets: [{name: a}, {name: b}]",
          "controllerTLSSecret: tls, imagePullSecrets: [{name: b}]",
          "controllerTLSSecret: tls, controllerPods: {annotations: {a: b}, tolerations: [],"
              + " priorityClassName: system-node-critical}");

  private Sandbox sandbox;
  private KubernetesClient client;
  private InstalledOperator operator;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.operator = InstalledOperator.install(sandbox);
    client.resource(TlsSecrets.of(sandbox.namespace(), "tls", new Certificates("fields"))).create();
  }

  @AfterEach
  void deleteAll() {
    operator.stop();
    Leftovers.remove(client, sandbox.namespace(), H, NAME);
    assertThat(operator.warnings()).isEmpty();
  }

  @Test
  void eachFieldTakesEffectWhileTheOperatorRuns() {
    operator.start();
    client.resource(PmemResource.of(NAME, SPECS.getFirst())).create();

    for (String spec : specs()) {
      change(spec);
      awaitObjects(spec);
    }
  }

  @Test
  void eachFieldThatChangedDuringDowntimeTakesEffect() {
    client.resource(PmemResource.of(NAME, SPECS.getFirst())).create();

    for (String spec : specs()) {
      change(spec);
      operator.start();
      awaitObjects(spec);
      operator.stop();
    }
  }

  /** Certificates that the operator issues are new each time; {@link CertificatesIT} has them. */
  @Test
  void noFieldIsForgotten() {
    String all = String.join("\n", specs());

    assertThat(PmemCSIDeploymentSpec.class.getRecordComponents())
        .extracting(RecordComponent::getName)
        .filteredOn(field -> !field.equals("controllerTLS"))
        .allSatisfy(field -> assertThat(all).containsPattern("\\b%s: ".formatted(field)));
  }

  /** Labels come last, because the operator never removes them. */
  private List<String> specs() {
    String[] names = {
      "%s-scheduler.%s.svc".formatted(H, sandbox.namespace()),
      "%s-webhook.%s.svc".formatted(H, sandbox.namespace())
    };
    var authority = new Certificates("node");
    return Stream.concat(
            SPECS.stream(),
            Stream.of(
                TlsSecrets.inline(new Certificates("inline"), names),
                TlsSecrets.inline(authority, names)
                    + ", "
                    + TlsSecrets.pair("nodeController", authority.issue("CN=node")),
                "labels: {team: a}"))
        .toList();
  }

  @Test
  void labelsAreAddedAndOverwrittenButNeverRemoved() {
    operator.start();
    client.resource(PmemResource.of(NAME, "labels: {one: a, two: a}")).create();
    awaitObjects("labels: {one: a, two: a}");

    change("labels: {one: b}");

    awaitObjects("labels: {one: b}", false);
    assertThat(Leftovers.objects(client, sandbox.namespace(), H, NAME))
        .allSatisfy(
            object ->
                assertThat(object.getMetadata().getLabels())
                    .containsEntry("one", "b")
                    .containsEntry("two", "a"));
  }

  @Test
  void upgradeAppliesNewDefaultsAndDowngradeRevertsThem() {
    client.resource(PmemResource.of(NAME, "")).create();
    for (String image : List.of("release:1", "release:2", "release:1")) {
      operator.startWithImage(image);

      awaitObjects("image: " + image);
      operator.stop();
    }
  }

  @Test
  void driversUseTheImageOfTheOperatorPodByDefault() {
    Pod own = InstalledOperator.pod(sandbox.namespace(), "release:own");
    assertThatThrownBy(() -> operator.startInPod(own))
        .hasMessageContaining("there is no pod \"%s\"".formatted(own.getMetadata().getName()))
        .hasMessageContaining("-image");
    client.resource(own).create();
    client.resource(PmemResource.of(NAME, "")).create();

    operator.startInPod(own);

    awaitObjects("image: release:own");
  }

  /** A sample of the points that the embedded API goes through one by one. */
  @Test
  void nextOperatorCompletesTheWorkOfAKilledOne() {
    String withController = "controllerTLSSecret: tls";
    for (int writes : List.of(2, 8)) {
      killedAfter(writes, () -> client.resource(PmemResource.of(NAME, withController)).create());
      awaitObjects(withController);

      killedAfter(writes, () -> change("logLevel: 5"));
      awaitObjects("logLevel: 5");

      killedAfter(writes, () -> client.resources(PmemCSIDeployment.class).withName(NAME).delete());
      await()
          .untilAsserted(
              () -> assertThat(Leftovers.of(client, sandbox.namespace(), H, NAME)).isEmpty());
      operator.stop();
    }
  }

  private void killedAfter(int writes, Runnable action) {
    operator.stop();
    operator.crashAfterWrites(writes);
    operator.start();
    action.run();
    await().until(operator::isCrashed);
    operator.restart();
  }

  @Test
  void valuesOutsideTheSchemaAreRejectedByTheServer() {
    for (String spec :
        List.of(
            "deviceMode: fast",
            "logFormat: xml",
            "pmemPercentage: 101",
            "pullPolicy: Sometimes",
            "mutatePods: Perhaps",
            "kubeletDir: relative")) {
      assertThat(refused(spec)).as(spec).isTrue();
    }
  }

  /** The services of a controller are named after the resource. */
  @Test
  void nameThatIsTooLongFailsAndNothingIsCreated() {
    operator.start();
    var driver = new TestDriver(sandbox, "n".repeat(54));
    driver.create("controllerTLS: {managed: true}");

    driver.awaitPhase("Failed");

    assertThat(driver.status().reason()).startsWith("metadata.name: ").contains("too long");
    assertThat(driver.objectNames()).isEmpty();
  }

  @Test
  void contradictingFieldsAreReportedAndObjectsStayUnchanged() {
    operator.start();
    client.resource(PmemResource.of(NAME, "logLevel: 4")).create();
    awaitObjects("logLevel: 4");
    Map<String, String> before = Snapshot.of(client, sandbox.namespace(), H, NAME);

    for (String bad :
        List.of(
            "pullPolicy: Always, imagePullPolicy: Never",
            "registrarImage: a:1, nodeRegistrarImage: b:1",
            "controllerReplicas: 2, controllReplicas: 3",
            "controllerTLSSecret: tls, controllerTLS: {managed: true}",
            "registryCert: YQ==",
            "nodeControllerCert: YQ==, caCert: YQ==, registryCert: YQ==, registryKey: YQ==",
            "renewBeforeDays: 9",
            "kubeletDir: /a/../b",
            "labels: {a/b/c: d}",
            "nodeSelector: {-a-: b}")) {
      String field = bad.substring(0, bad.indexOf(':'));
      String spec =
          bad.startsWith("renewBeforeDays")
              ? "controllerTLS: {managed: true, validityDays: 9, %s}".formatted(bad)
              : bad;
      assertRefused("logLevel: 5, " + spec, field);
    }
    assertThat(Snapshot.of(client, sandbox.namespace(), H, NAME)).isEqualTo(before);

    change("logLevel: 5");

    awaitObjects("logLevel: 5");
  }

  @Test
  void fieldsThatTheServerRejectsAreReportedAndObjectsStayUnchanged() {
    operator.start();
    client.resource(PmemResource.of(NAME, "controllerTLSSecret: tls")).create();
    awaitObjects("controllerTLSSecret: tls");
    Map<String, String> before = Snapshot.of(client, sandbox.namespace(), H, NAME);
    client
        .services()
        .resource(
            new ServiceBuilder()
                .withNewMetadata()
                .withName("other")
                .withNamespace(sandbox.namespace())
                .endMetadata()
                .withNewSpec()
                .withType("NodePort")
                .addNewPort()
                .withPort(80)
                .withNodePort(31777)
                .endPort()
                .endSpec()
                .build())
        .create();

    for (String bad :
        List.of(
            "schedulerNodePort: 20000",
            "schedulerNodePort: 31777",
            "nodeDriverResources: {requests: {cpu: 2}, limits: {cpu: 1}}",
            "provisionerResources: {requests: {cpu: 2}, limits: {cpu: 1}}",
            "controllerDriverResources: {requests: {cpu: 2}, limits: {cpu: 1}}",
            "nodeResources: {requests: {cpu: 2}, limits: {cpu: 1}}",
            "controllerResources: {requests: {cpu: 2}, limits: {cpu: 1}}")) {
      change("controllerTLSSecret: tls, logLevel: 5, " + bad);
      String field = "spec." + bad.substring(0, bad.indexOf(':') + 1);
      await(bad)
          .untilAsserted(
              () -> {
                var resource = client.resources(PmemCSIDeployment.class).withName(NAME).get();
                assertThat(resource.getStatus().observedGeneration())
                    .isEqualTo(resource.getMetadata().getGeneration());
                assertThat(resource.getStatus().phase()).isEqualTo("Failed");
                assertThat(resource.getStatus().reason())
                    .startsWith(field)
                    .doesNotContain("containers[");
              });
      assertThat(Snapshot.of(client, sandbox.namespace(), H, NAME)).as(bad).isEqualTo(before);
    }

    change("controllerTLSSecret: tls, logLevel: 5");

    awaitObjects("controllerTLSSecret: tls, logLevel: 5");
  }

  /** By the server itself, if it is new enough to know rules in CEL. */
  private void assertRefused(String spec, String field) {
    try {
      change(spec);
    } catch (KubernetesClientException e) {
      assertThat(e.getCode()).as(spec).isEqualTo(422);
      assertThat(e).hasMessageContaining(field);
      return;
    }
    awaitSeen(spec);
    var status = client.resources(PmemCSIDeployment.class).withName(NAME).get().getStatus();
    assertThat(status.phase()).as(spec).isEqualTo("Failed");
    assertThat(status.reason()).as(spec).contains(field);
  }

  private boolean refused(String spec) {
    try {
      client.resource(PmemResource.of(NAME, spec)).create();
      return false;
    } catch (KubernetesClientException e) {
      return e.getCode() == 422;
    }
  }

  private void change(String spec) {
    Edits.replace(
        client,
        client.resources(PmemCSIDeployment.class).withName(NAME),
        resource -> {
          resource.setSpec(PmemResource.of(NAME, spec).getSpec());
          return resource;
        });
  }

  private void awaitObjects(String spec) {
    awaitObjects(spec, true);
  }

  /**
   * Waits for the objects of a resource.
   *
   * @param exactly whether no object of the previous desired state may be left
   */
  private void awaitObjects(String spec, boolean exactly) {
    var facts =
        ClusterFacts.assumed(
            KubernetesVersion.parse(sandbox.version().toString()),
            sandbox.namespace(),
            InstalledOperator.IMAGE);
    List<HasMetadata> desired = new Rendering().objects(PmemResource.of(NAME, spec), facts);
    awaitSeen(spec);
    await(spec)
        .pollDelay(Duration.ZERO)
        .untilAsserted(
            () -> {
              var missing = new ArrayList<String>();
              Map<String, HasMetadata> found =
                  byName(Leftovers.objects(client, sandbox.namespace(), H, NAME));
              for (HasMetadata object : desired) {
                HasMetadata actual = found.get(name(object));
                if (spec.contains(MUST_ANSWER)) {
                  ignoreFailurePolicy(object, actual);
                }
                keepPreviousAuthority(object, actual);
                missing.addAll(Containment.missing(object, actual));
                if (exactly && actual != null && missing.isEmpty()) {
                  missing.addAll(FreshObject.differences(client, object, actual));
                }
              }
              assertThat(missing).isEmpty();
              assertThat(found.keySet()).isEqualTo(byName(desired).keySet());
            });
  }

  /**
   * The failure policy depends on whether the controller runs on a node of another test; RunningIT
   * tests when it becomes Fail.
   */
  private static void ignoreFailurePolicy(HasMetadata desired, @Nullable HasMetadata actual) {
    if (desired instanceof MutatingWebhookConfiguration webhook
        && actual instanceof MutatingWebhookConfiguration there) {
      String policy = there.getWebhooks().getFirst().getFailurePolicy();
      assertThat(policy).isIn("Ignore", "Fail");
      webhook.getWebhooks().forEach(hook -> hook.setFailurePolicy(policy));
    }
  }

  /**
   * A webhook trusts the authority of an earlier certificate for some minutes; CertificatesIT tests
   * that.
   */
  private static void keepPreviousAuthority(HasMetadata desired, @Nullable HasMetadata actual) {
    if (desired instanceof MutatingWebhookConfiguration webhook
        && actual instanceof MutatingWebhookConfiguration there
        && there.getMetadata().getAnnotations().containsKey(PREVIOUS_CA_UNTIL)) {
      String bundle = there.getWebhooks().getFirst().getClientConfig().getCaBundle();
      assertThat(pem(bundle))
          .contains(pem(webhook.getWebhooks().getFirst().getClientConfig().getCaBundle()));
      webhook.getWebhooks().forEach(hook -> hook.getClientConfig().setCaBundle(bundle));
      webhook.getMetadata().setAnnotations(there.getMetadata().getAnnotations());
    }
  }

  private static String pem(String bundle) {
    return new String(Base64.getDecoder().decode(bundle), StandardCharsets.US_ASCII)
        .replaceAll("\\s", "");
  }

  /** One small request at a time; to compare all objects takes many. */
  private void awaitSeen(String spec) {
    await(spec)
        .pollInterval(Duration.ofMillis(30))
        .until(
            () -> {
              var resource = client.resources(PmemCSIDeployment.class).withName(NAME).get();
              return resource
                  .getMetadata()
                  .getGeneration()
                  .equals(resource.getStatus().observedGeneration());
            });
  }

  private static Map<String, HasMetadata> byName(List<HasMetadata> objects) {
    return objects.stream().collect(Collectors.toMap(FieldsIT::name, object -> object));
  }

  private static String name(HasMetadata object) {
    return object.getKind() + " " + object.getMetadata().getName();
  }
}
