package io.pmemcsi.operator;

import static io.pmemcsi.operator.TlsSecrets.encoded;
import static io.pmemcsi.operator.TlsSecrets.pair;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.legacy.LegacyDeployment;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import io.pmemcsi.operator.certs.PeerCheck;
import io.pmemcsi.operator.certs.TlsFiles;
import io.pmemcsi.operator.tools.migrate.Migration;
import io.pmemcsi.testbed.kubernetes.Certificates;
import io.pmemcsi.testbed.kubernetes.FakeNodes;
import io.pmemcsi.testbed.kubernetes.HollowNodes;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The lifecycle of a Deployment v1alpha1 on a real control plane. */
@WithKubernetes(perClass = true)
class LegacyDeploymentIT extends SharedOperator {

  private static final KubernetesSerialization YAML = new KubernetesSerialization();

  private String name;

  @BeforeEach
  void name(TestInfo test) {
    name = "a%08x".formatted(test.getDisplayName().hashCode());
  }

  @AfterEach
  void deleteResource() {
    Logging.configure(LogFormat.TEXT, new Verbosity(Integer.getInteger("pmem-csi.v", 0)));
    delete(self());
    operator.stop();
    operator.withClock(Clock.systemUTC()).start();
    assertThat(operator.warnings()).isEmpty();
  }

  @Test
  void documentedExampleRunsAsDocumented() throws Exception {
    LegacyDeployment documented =
        YAML.unmarshal(
            Files.readString(Path.of("src/test/resources/resources/legacy/documented.yaml")),
            LegacyDeployment.class);
    name = documented.getMetadata().getName();
    client.resource(documented).create();

    awaitPhase("Initializing");
    try (var _ =
        HollowNodes.start(sandbox.cluster(), 3, Map.of("storage", "pmem")).registerDrivers()) {
      awaitPhase("Running");

      List<Pod> pods = client.pods().inNamespace(sandbox.namespace()).list().getItems();
      assertThat(pods)
          .extracting(pod -> pod.getMetadata().getName().replaceAll("-[a-z0-9]{5}$", ""))
          .containsExactlyInAnyOrder(
              "pmem-deployment-controller-0",
              "pmem-deployment-node",
              "pmem-deployment-node",
              "pmem-deployment-node");
      assertThat(pods)
          .allSatisfy(
              pod ->
                  assertThat(pod.getStatus().getContainerStatuses())
                      .hasSize(2)
                      .allMatch(ContainerStatus::getReady));
      PmemCSIDeploymentStatus status = status();
      assertThat(status.reason()).isEqualTo("All driver components are deployed successfully");
      assertThat(status.component("Controller").orElseThrow().reason())
          .isEqualTo("1 instance(s) of controller driver is running successfully");
      assertThat(status.component("Node").orElseThrow().reason())
          .isEqualTo("All 3 node driver pod(s) running successfully");
      assertThat(status.conditions())
          .allSatisfy(condition -> assertThat(condition.status()).isEqualTo("True"))
          .extracting(DeploymentCondition::type)
          .contains("CertsVerified", "CertsReady", "DriverDeployed");
      assertThat(status.certificateExpires()).isAfter(Instant.now());
      assertThat(events()).extracting(Event::getReason).contains("NewDeployment", "Running");
    }

    delete(self());
    await()
        .untilAsserted(
            () ->
                assertThat(Leftovers.of(client, sandbox.namespace(), "pmem-deployment", name))
                    .isEmpty());
  }

  @Test
  void driverIsNotRunningBeforeEveryNodeHasRegisteredWithItsController() throws IOException {
    var registered = new AtomicReference<List<String>>(List.of());
    FakeMetrics metrics =
        FakeMetrics.serve(
            () ->
                registered.get().stream()
                    .map("pmem_csi_node_registered{node=\"%s\"} 1.0\n"::formatted)
                    .collect(
                        Collectors.joining("", "# TYPE pmem_csi_node_registered gauge\n", "")));
    sandbox.cleanUp(metrics::close);
    create("nodeSelector: {test/registry: \"yes\"}");
    try (var nodes =
        FakeNodes.create(sandbox.cluster(), 2, Map.of("test/registry", "yes"))
            .runPods()
            .registerDrivers()) {
      awaitPhase("Running");
      operator.stop();
      metrics.become(
          client,
          client.pods().inNamespace(sandbox.namespace()).withName(name + "-controller-0").get());
      registered.set(nodes.names().subList(0, 1));

      operator.start();

      awaitPhase("Initializing");
      assertThat(status().component("Node").orElseThrow().reason())
          .startsWith(
              "1 node(s) have not registered with the controller: %s."
                  .formatted(nodes.names().getLast()));

      registered.set(nodes.names());

      awaitPhase("Running");
    }
  }

  @Test
  void operatorIssuesCertificatesAndRenewsThemWithoutInterruption() {
    create("");
    awaitPhase("Initializing");
    TlsFiles registry = files("registry-secrets");
    TlsFiles node = files("node-secrets");
    assertThat(PeerCheck.of(registry, node, Instant.now()).broken()).isEmpty();

    Instant later = Instant.now().plus(Duration.ofDays(300));
    Instant expires = status().certificateExpires();
    List<Long> generations = generations();
    operator.stop();
    operator.withClock(Clock.offset(Clock.systemUTC(), Duration.ofDays(300))).start();

    await().untilAsserted(() -> assertThat(status().certificateExpires()).isAfter(expires));
    TlsFiles newRegistry = files("registry-secrets");
    TlsFiles newNode = files("node-secrets");
    assertThat(newRegistry.certificate()).isNotEqualTo(registry.certificate());
    assertThat(newNode.certificate()).isNotEqualTo(node.certificate());
    // pods get the new files at different times
    assertThat(PeerCheck.of(newRegistry, node, later).broken()).isEmpty();
    assertThat(PeerCheck.of(registry, newNode, later).broken()).isEmpty();
    assertThat(PeerCheck.of(newRegistry, newNode, later).broken()).isEmpty();
    assertThat(generations()).as("no pod is replaced").isEqualTo(generations);
  }

  private List<Long> generations() {
    var apps = client.apps();
    return Stream.of(
            apps.statefulSets().inNamespace(sandbox.namespace()).withName(name + "-controller"),
            apps.daemonSets().inNamespace(sandbox.namespace()).withName(name + "-node"))
        .map(workload -> workload.get().getMetadata().getGeneration())
        .toList();
  }

  @Test
  void givenCertificatesAreCheckedAndStored() {
    var authority = new Certificates("one");
    var registry = authority.issue("CN=a", "pmem-registry");
    var node = authority.issue("CN=b", "pmem-node-controller");
    String ca = "caCert: %s, ".formatted(encoded(authority.authorityPem()));
    Certificates.Issued stranger = new Certificates("other").issue("CN=b", "pmem-node-controller");
    Instant over = Instant.now().minus(Duration.ofHours(1)).truncatedTo(ChronoUnit.SECONDS);
    var log = new ByteArrayOutputStream();
    Logging.configure(LogFormat.TEXT, new Verbosity(5), log);

    create(ca + pair("registry", registry) + ", " + pair("nodeController", stranger));
    awaitRefused("nodeControllerCert, nodeControllerKey: ", "not signed by the given CA");

    setSpec(ca + pair("registry", node) + ", " + pair("nodeController", registry));
    awaitRefused("registryCert: ", "instead of pmem-registry");

    var mixed = new Certificates.Issued(node.certificate(), registry.key());
    setSpec(ca + pair("registry", registry) + ", " + pair("nodeController", mixed));
    awaitRefused("nodeControllerKey: ", "the key does not belong to the certificate");

    var expired =
        authority.issue("CN=b", over.minus(Duration.ofDays(1)), over, "pmem-node-controller");
    setSpec(ca + pair("registry", registry) + ", " + pair("nodeController", expired));
    awaitRefused("nodeControllerCert", "expired on " + over);
    assertThat(Leftovers.of(client, sandbox.namespace(), name, name)).isEmpty();

    setSpec(ca + pair("registry", registry) + ", " + pair("nodeController", node));
    awaitPhase("Initializing");
    assertThat(files("registry-secrets").certificate()).isEqualTo(registry.certificatePem());
    assertThat(files("node-secrets").key()).isEqualTo(node.keyPem());
    assertThat(log.toString(UTF_8)).contains(name);
    String reported =
        YAML.asYaml(self().get().getStatus()) + YAML.asYaml(events()) + log.toString(UTF_8);
    for (Certificates.Issued secret : List.of(registry, node, stranger, expired)) {
      assertThat(reported)
          .doesNotContain(encoded(secret.keyPem()))
          .doesNotContain(secret.keyPem().lines().skip(1).findFirst().orElseThrow());
    }
  }

  private void awaitRefused(String fields, String reason) {
    await(reason)
        .untilAsserted(() -> assertThat(status().reason()).contains(fields).contains(reason));
    awaitPhase("Failed");
    assertThat(status().condition("CertsVerified"))
        .map(DeploymentCondition::status)
        .contains("False");
  }

  @Test
  void youngerResourceOfEitherKindWaitsForTheDriverName() {
    String shared = name + ".example.com";
    var newer = new TestDriver(sandbox, shared);
    newer.create("nodeSelector: {test/conflict: \"a\"}");
    newer.awaitPhase("Initializing");

    awaitNextSecond();
    create("driverName: %s, nodeSelector: {test/conflict: \"b\"}".formatted(shared));
    // before the operator has observed the other resource, it reports the object in the way
    await()
        .untilAsserted(
            () ->
                assertThat(status().reason())
                    .startsWith(
                        "driver name \"%s\" is used by PmemCSIDeployment".formatted(shared)));
    assertThat(status().phase()).isEqualTo("Failed");
    assertThat(newer.status().phase()).isEqualTo("Initializing");

    newer.self().delete();
    awaitPhase("Initializing");

    awaitNextSecond();
    newer.create("");
    await()
        .untilAsserted(
            () ->
                assertThat(newer.status().reason())
                    .contains("is used by Deployment \"%s\", which is older".formatted(name)));
    assertThat(newer.status().phase()).isEqualTo("Failed");

    delete(self());
    newer.awaitPhase("Initializing");
  }

  /** Ages count in seconds. */
  private static void awaitNextSecond() {
    Instant next = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
    await().until(() -> Instant.now().isAfter(next));
  }

  @Test
  void nodesOfADriverOfTheOtherKindAreReportedOnBoth() {
    var other = new TestDriver(sandbox, name + ".example.com");
    try (var nodes = FakeNodes.create(sandbox.cluster(), 1, Map.of("test/shared", "yes"))) {
      other.create("nodeSelector: {test/shared: \"yes\"}");
      create("nodeSelector: {test/shared: \"yes\"}");

      await()
          .untilAsserted(
              () ->
                  assertThat(status().conditions().toString())
                      .contains("\"PmemCSIDeployment %s\" selects".formatted(other.name()))
                      .contains(nodes.names().getFirst()));
      await()
          .untilAsserted(
              () ->
                  assertThat(other.status().conditions().toString())
                      .contains("\"Deployment %s\" selects".formatted(name)));
    }
  }

  /** The procedure of docs/migration.md. */
  @Test
  void migratedResourceTakesOverTheDriverWithItsVolumes() {
    String driverName = name + ".example.com";
    create("driverName: %s, nodeSelector: {test/migration: \"yes\"}".formatted(driverName));
    try (var _ =
        FakeNodes.create(sandbox.cluster(), 1, Map.of("test/migration", "yes"))
            .runPods()
            .registerDrivers()) {
      awaitPhase("Running");
      var volume = client.resource(CsiVolumes.volume(name + "-pv", driverName)).create();
      sandbox.cleanUp(() -> client.resource(volume).delete());
      awaitNextSecond();

      var migrated = new TestDriver(sandbox, driverName);
      client.resource(Migration.of(client, name).resource()).create();
      sandbox.cleanUp(migrated::removeAll);
      migrated.awaitPhase("Failed");

      self().delete();
      await()
          .untilAsserted(
              () -> assertThat(status().conditions().toString()).contains("DeletionHeld"));
      Edits.edit(
          self(),
          found -> {
            found.getMetadata().setAnnotations(Map.of("pmem-csi.intel.com/force-deletion", "true"));
            return found;
          });
      await().atMost(Duration.ofMinutes(2)).until(() -> self().get() == null);

      migrated.awaitPhase("Running");
      assertUntouched(volume);

      goBack(
          migrated,
          "driverName: %s, nodeSelector: {test/migration: \"yes\"}".formatted(driverName));

      awaitPhase("Running");
      assertUntouched(volume);
      client.resource(volume).delete();
    }
  }

  private void goBack(TestDriver migrated, String spec) {
    awaitNextSecond();
    create(spec);
    awaitPhase("Failed");
    migrated.edit(
        found ->
            found
                .getMetadata()
                .setAnnotations(Map.of("pmem-csi.intel.com/force-deletion", "true")));
    migrated.self().delete();
    migrated.awaitDeleted();
  }

  private void assertUntouched(PersistentVolume volume) {
    PersistentVolume now = client.resource(volume).get();
    assertThat(now.getMetadata().getDeletionTimestamp()).isNull();
    assertThat(now.getSpec()).isEqualTo(volume.getSpec());
  }

  @Test
  void invalidResourceFailsWithTheReasonAndRecovers() {
    create("driverName: %s, registryCert: YQ==".formatted(name));
    awaitPhase("Failed");
    assertThat(status().reason()).contains("set caCert as well");

    setSpec("");
    awaitPhase("Initializing");
    assertThat(client.storage().v1().csiDrivers().withName(name).get()).isNotNull();
  }

  /** The driver that the resource no longer names has volumes. */
  @Test
  void anotherDriverNameWaitsForTheVolumesOfTheDriver() {
    String before = name + ".example.com";
    String after = name + ".example.org";
    create("driverName: " + before);
    awaitPhase("Initializing");
    var volume = client.resource(CsiVolumes.volume(name + "-pv", before)).create();
    sandbox.cleanUp(() -> client.resource(volume).delete());

    setSpec("driverName: " + after);
    await()
        .untilAsserted(
            () ->
                assertThat(status().reason())
                    .startsWith("driverName changed from %s to %s: ".formatted(before, after)));
    awaitPhase("Failed");
    assertThat(csiDrivers()).contains(before).doesNotContain(after);

    client.resource(volume).delete();
    awaitPhase("Initializing");
    await().untilAsserted(() -> assertThat(csiDrivers()).contains(after).doesNotContain(before));
  }

  private List<String> csiDrivers() {
    return client.storage().v1().csiDrivers().list().getItems().stream()
        .map(driver -> driver.getMetadata().getName())
        .toList();
  }

  /**
   * Those of 0.7 have the same names and other selectors, which cannot be changed; the key of their
   * CA was never stored.
   */
  @Test
  void objectsOfTheOriginalOperatorAreTakenOver() throws IOException {
    create("");
    awaitPhase("Initializing");
    Map<String, String> fresh = snapshot();
    delete(self());
    await().untilAsserted(() -> assertThat(snapshot()).isEmpty());
    operator.stop();
    LegacyDeployment resource = client.resource(resource("")).create();
    new OriginalRelease("0.7.0").create(client, sandbox.namespace(), name, resource);
    var volume = client.resource(CsiVolumes.volume(name + "-pv", name)).create();
    sandbox.cleanUp(() -> client.resource(volume).delete());

    operator.start();

    awaitPhase("Initializing");
    await().untilAsserted(() -> assertThat(Snapshot.differences(snapshot(), fresh)).isEmpty());
    assertThat(
            PeerCheck.of(files("registry-secrets"), files("node-secrets"), Instant.now()).broken())
        .isEmpty();
    assertUntouched(volume);
    client.resource(volume).delete();
  }

  /** Without the node ports, which the API server chooses. */
  private Map<String, String> snapshot() {
    Map<String, String> objects =
        new TreeMap<>(Snapshot.of(client, sandbox.namespace(), name, name));
    objects.replaceAll((_, object) -> object.replaceAll("\"nodePort\":\\d+,", ""));
    return objects;
  }

  private void create(String spec) {
    client.resource(resource(spec)).create();
    sandbox.cleanUp(() -> Leftovers.remove(client, sandbox.namespace(), name, name));
  }

  private LegacyDeployment resource(String spec) {
    LegacyDeployment resource =
        YAML.unmarshal(
            """
            apiVersion: pmem-csi.intel.com/v1alpha1
            kind: Deployment
            spec: {%s}
            """
                .formatted(spec),
            LegacyDeployment.class);
    resource.setMetadata(new ObjectMetaBuilder().withName(name).build());
    return resource;
  }

  private void setSpec(String spec) {
    Edits.edit(
        self(),
        found -> {
          found.setSpec(resource(spec).getSpec());
          return found;
        });
  }

  private Resource<LegacyDeployment> self() {
    return client.resources(LegacyDeployment.class).withName(name);
  }

  private PmemCSIDeploymentStatus status() {
    return self().get().getStatus();
  }

  private void awaitPhase(String phase) {
    await(phase)
        .atMost(Duration.ofMinutes(2))
        .untilAsserted(
            () -> assertThat(status().phaseOrNew()).as(status().toString()).isEqualTo(phase));
  }

  private static void delete(Resource<LegacyDeployment> resource) {
    resource.delete();
    await().atMost(Duration.ofMinutes(2)).until(() -> resource.get() == null);
  }

  private TlsFiles files(String suffix) {
    String secret = name + "-" + suffix;
    return TlsFiles.of(
        secret, client.secrets().inNamespace(sandbox.namespace()).withName(secret).get().getData());
  }

  private List<Event> events() {
    String uid = self().get().getMetadata().getUid();
    return client.v1().events().inNamespace("default").list().getItems().stream()
        .filter(event -> uid.equals(event.getInvolvedObject().getUid()))
        .toList();
  }
}
