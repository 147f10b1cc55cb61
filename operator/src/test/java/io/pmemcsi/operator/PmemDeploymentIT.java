package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Event;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.CSIDriverBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.install.OperatorInstallation;
import io.pmemcsi.operator.pmem.PmemReconciler;
import io.pmemcsi.testbed.kubernetes.PaperNodes;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The life of a PmemCSIDeployment on a real control plane, under the operator's real rights. */
@WithKubernetes
class PmemDeploymentIT {

  private static final String NAME = "life.pmem-csi.example.com";
  private static final String H = "life-pmem-csi-example-com";
  private static final String SPEC = "nodeSelector: {test/life: \"yes\"}";
  private static final String WITH_CONTROLLER = SPEC + ", controllerTLS: {managed: true}";
  private static final Map<String, String> LABELS = Map.of("test/life", "yes");

  private Sandbox sandbox;
  private KubernetesClient client;
  private InstalledOperator operator;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    this.operator = InstalledOperator.install(sandbox);
  }

  @AfterEach
  void deleteResource() {
    client.resources(PmemCSIDeployment.class).withName(NAME).delete();
    await().until(() -> client.resources(PmemCSIDeployment.class).withName(NAME).get() == null);
  }

  @Test
  void newDeploymentGoesThroughInitializingToRunningAndSaysSo() {
    operator.start();

    create(SPEC);

    awaitPhase("Initializing");
    await()
        .untilAsserted(
            () -> assertThat(status().reason()).contains("No node has the labels {test/life=yes}"));

    // of two nodes one would be there first, and the driver Running twice
    try (var nodes = PaperNodes.create(sandbox.cluster(), 1, LABELS).runPods()) {
      awaitPhase("Running");
      assertThat(nodes.names()).hasSize(1);
      var status = status();
      assertThat(status.reason()).isEqualTo("All driver components are deployed successfully");
      assertThat(status.observedGeneration()).isEqualTo(1L);
      assertThat(status.component("Node").orElseThrow().reason())
          .isEqualTo("All 1 node driver pod(s) running successfully");
      assertThat(status.condition("DriverDeployed"))
          .map(DeploymentCondition::status)
          .contains("True");
      assertThat(events()).containsExactlyInAnyOrder("NewDeployment", "Running");
    }
  }

  @Test
  void nodeWithoutPreparedMemoryIsNamedUntilItHasSome() throws IOException {
    var managed = new AtomicLong();
    var random = ThreadLocalRandom.current();
    // an address of this machine that no other test uses, because the port is a fixed one
    String ip = "127.%d.%d.77".formatted(random.nextInt(1, 255), random.nextInt(255));
    HttpServer pod = HttpServer.create(new InetSocketAddress(ip, 10010), 0);
    pod.createContext(
        "/metrics",
        exchange -> {
          byte[] text =
              "pmem_amount_total 9.0E9\npmem_amount_managed %d\n"
                  .formatted(managed.get())
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, text.length);
          exchange.getResponseBody().write(text);
          exchange.close();
        });
    pod.start();
    sandbox.cleanUp(() -> pod.stop(0));
    operator.start();
    create(SPEC);
    try (var nodes = PaperNodes.create(sandbox.cluster(), 1, LABELS).runPods()) {
      awaitPhase("Running");
      assertThat(status().unpreparedNodes()).isEmpty();
      operator.stop();
      Pod running = client.pods().inNamespace(sandbox.namespace()).list().getItems().getFirst();
      client
          .resource(running)
          .editStatus(
              edited -> {
                edited.getStatus().setPodIP(ip);
                return edited;
              });

      operator.start();

      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () ->
                  assertThat(status().unpreparedNodes())
                      .extracting(UnpreparedNode::node)
                      .isEqualTo(nodes.names()));
      assertThat(status().unpreparedNodes().getFirst().reason())
          .contains("manages no persistent memory");
      assertThat(status().phase()).isEqualTo("Running");

      // asked again after a minute, or by the next operator
      operator.stop();
      managed.set(1L << 30);
      operator.start();

      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(status().unpreparedNodes()).isEmpty());
    }
  }

  @Test
  void wholeInstallationIsAcceptedByTheServer() {
    for (HasMetadata object :
        new OperatorInstallation(sandbox.namespace(), InstalledOperator.IMAGE).objects()) {
      InstalledOperator.apply(client, object);

      assertThat(Containment.missing(object, client.resource(object).get())).isEmpty();
    }
  }

  @Test
  void metricsAndHealthCanBeRead() throws Exception {
    operator.start();
    create(SPEC);
    awaitPhase("Initializing");

    assertThat(read("/healthz")).isEqualTo("ok\n");
    assertThat(read("/readyz")).isEqualTo("ok\n");
    // a run is counted as ended after the status that it wrote can be seen
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(read("/metrics"))
                    .containsPattern(
                        "(?m)^pmem_csi_operator_reconcile_duration_seconds_count\\S* [1-9]")
                    .containsPattern("(?m)^pmem_csi_operator_queue_length\\S* 0\\.0"));
    assertThat(read("/metrics"))
        .contains("pmem_csi_deployment_reconcile{name=\"%s\"".formatted(NAME))
        .contains(
            "pmem_csi_operator_resources{kind=\"PmemCSIDeployment\",phase=\"Initializing\"} 1.0")
        .contains("pmem_csi_operator_reconciles_total{kind=\"PmemCSIDeployment\"}")
        .contains("pmem_csi_operator_objects_applied_total{kind=\"PmemCSIDeployment\"}")
        .contains("pmem_csi_operator_objects_pruned_total{kind=\"PmemCSIDeployment\"}")
        .containsPattern(subResource("created_at"))
        .containsPattern(subResource("updated_at"));
  }

  private static String subResource(String what) {
    return "pmem_csi_deployment_sub_resource_"
        + what
        + "\\{group=\"apps\",kind=\"DaemonSet\",name=\"%s-node\",namespace=\"[^\"]+\",".formatted(H)
        + "ownedBy=\"[^\"]+\",uid=\"[^\"]+\",version=\"v1\"\\} [1-9]";
  }

  private String read(String path) throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      return http.send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:%d%s".formatted(operator.metricsPort(), path)))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  @Test
  void settledDeploymentCausesNoWrites() {
    operator.start();
    create(SPEC);
    awaitPhase("Initializing");
    awaitQuiet();
    List<String> before = operator.writes();

    // a restart looks at everything again
    operator.stop();
    operator.start();
    client
        .resources(PmemCSIDeployment.class)
        .withName(NAME)
        .edit(
            resource -> {
              resource.getMetadata().setAnnotations(Map.of("touched", "yes"));
              return resource;
            });

    await()
        .during(Duration.ofSeconds(3))
        .atMost(Duration.ofSeconds(10))
        .until(() -> operator.writes().equals(before));
  }

  @Test
  void foreignObjectMakesItFailUntilThatObjectIsGone() throws Exception {
    HasMetadata foreign =
        client
            .resource(
                new RoleBuilder()
                    .withNewMetadata()
                    .withName(H + "-external-provisioner-cfg")
                    .withNamespace(sandbox.namespace())
                    .endMetadata()
                    .build())
            .create();
    operator.start();

    create(SPEC);

    awaitPhase("Failed");
    assertThat(status().reason())
        .contains("Role \"%s-external-provisioner-cfg\"".formatted(H))
        .contains("was not made for this resource");
    assertThat(client.resource(foreign).get().getMetadata().getResourceVersion())
        .isEqualTo(foreign.getMetadata().getResourceVersion());
    assertThat(daemonSet()).isEmpty();

    // it is looked at again and again, and told once
    double runs = runs();
    await().atMost(Duration.ofSeconds(30)).until(() -> runs() > runs + 1);
    assertThat(events()).containsExactlyInAnyOrder("NewDeployment", "Failed");

    client.resource(foreign).delete();

    awaitPhase("Initializing");
    assertThat(events()).containsExactlyInAnyOrder("NewDeployment", "Failed");
  }

  private double runs() throws Exception {
    return read("/metrics")
        .lines()
        .filter(line -> line.startsWith("pmem_csi_deployment_reconcile{name=\"" + NAME))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .findFirst()
        .orElse(0);
  }

  @Test
  void everyForeignObjectIsNamedAndNoneIsTouched() {
    PmemCSIDeployment resource = PmemResource.of(NAME, WITH_CONTROLLER);
    List<HasMetadata> foreign =
        new Rendering().objects(resource, facts()).stream().map(sandbox::create).toList();
    assertThat(foreign).extracting(HasMetadata::getKind).contains("CSIDriver", "DaemonSet");
    operator.start();

    create(WITH_CONTROLLER);

    awaitPhase("Failed");
    assertThat(foreign)
        .allSatisfy(
            object -> {
              assertThat(status().reason())
                  .contains(
                      "%s \"%s\"".formatted(object.getKind(), object.getMetadata().getName()));
              assertThat(client.resource(object).get().getMetadata().getManagedFields())
                  .noneMatch(entry -> PmemReconciler.FIELD_MANAGER.equals(entry.getManager()));
            });
    assertThat(operator.writes()).noneMatch(write -> write.startsWith("DELETE"));

    foreign.forEach(object -> client.resource(object).delete());

    awaitPhase("Initializing");
  }

  /** Also where it comes while the driver runs: somebody deletes our object and makes his own. */
  @Test
  void foreignObjectInPlaceOfOursIsKept() {
    operator.start();
    create(SPEC);
    awaitPhase("Initializing");
    operator.stop();
    CSIDriver ours = client.storage().v1().csiDrivers().withName(NAME).get();
    client.resource(ours).delete();
    var theirs =
        sandbox.create(
            new CSIDriverBuilder()
                .withNewMetadata()
                .withName(NAME)
                .endMetadata()
                .withNewSpec()
                .withAttachRequired(true)
                .endSpec()
                .build());

    operator.start();

    awaitPhase("Failed");
    assertThat(status().reason()).contains("CSIDriver \"%s\"".formatted(NAME));
    assertThat(client.resource(theirs).get().getMetadata().getResourceVersion())
        .isEqualTo(theirs.getMetadata().getResourceVersion());
  }

  @Test
  void replicasAreLeftToAnAutoscalerUnlessTheResourceSetsThem() {
    operator.start();
    create(WITH_CONTROLLER);
    awaitPhase("Initializing");
    var controller =
        client.apps().deployments().inNamespace(sandbox.namespace()).withName(H + "-controller");
    controller.scale(3);
    // something of ours is mended meanwhile, so that the object is really written again
    Edits.edit(
        controller,
        object -> {
          object.getMetadata().getLabels().put("app.kubernetes.io/part-of", "other");
          return object;
        });
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () ->
                assertThat(controller.get().getMetadata().getLabels())
                    .containsEntry("app.kubernetes.io/part-of", "pmem-csi"));
    assertThat(controller.get().getSpec().getReplicas()).isEqualTo(3);

    Edits.edit(
        client.resources(PmemCSIDeployment.class).withName(NAME),
        resource -> {
          resource.setSpec(
              PmemResource.of(NAME, WITH_CONTROLLER + ", controllerReplicas: 2").getSpec());
          return resource;
        });

    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(controller.get().getSpec().getReplicas()).isEqualTo(2));
    controller.scale(5);
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(controller.get().getSpec().getReplicas()).isEqualTo(2));
  }

  @Test
  void factsOfTheServerAreThoseThatRenderAssumes() {
    assertThat(new ClusterProbe(client).facts(sandbox.namespace(), InstalledOperator.IMAGE))
        .isEqualTo(facts());
  }

  private ClusterFacts facts() {
    return ClusterFacts.assumed(
        KubernetesVersion.parse(sandbox.version().toString()),
        sandbox.namespace(),
        InstalledOperator.IMAGE);
  }

  @Test
  void deletedResourceLeavesNothingBehind() {
    operator.start();
    create(SPEC);
    awaitPhase("Initializing");

    client.resources(PmemCSIDeployment.class).withName(NAME).delete();

    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> assertThat(Leftovers.of(client, sandbox.namespace(), H, NAME)).isEmpty());
  }

  @Test
  void deletionsByOthersAreMendedWhateverTheKind() {
    operator.start();
    create(WITH_CONTROLLER);
    awaitPhase("Initializing");
    Map<String, String> before = snapshot();
    for (HasMetadata object : objects()) {
      String uid = object.getMetadata().getUid();
      client.resource(object).delete();
      await(object.getKind() + " is made again")
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                HasMetadata now = client.resource(object).get();
                assertThat(now).isNotNull();
                assertThat(now.getMetadata().getUid()).isNotEqualTo(uid);
              });
    }
    await().untilAsserted(() -> assertThat(snapshot()).isEqualTo(before));
  }

  @Test
  void editsByOthersAreMendedWhateverTheKindAndOtherLabelsAreKept() {
    operator.start();
    create(WITH_CONTROLLER);
    awaitPhase("Initializing");
    for (HasMetadata object : objects()) {
      // what was read before is stale by now: mending one object changes others
      object.getMetadata().setResourceVersion(null);
      client.resource(object).edit(Vandal::spoil);
      await(object.getKind() + " is mended")
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                HasMetadata now = client.resource(object).get();
                assertThat(Vandal.traces(now)).isEmpty();
                assertThat(now.getMetadata().getLabels())
                    .containsEntry("app.kubernetes.io/instance", NAME)
                    .containsEntry("mine", "kept");
                assertThat(now.getMetadata().getOwnerReferences()).hasSize(1);
              });
    }
  }

  @Test
  void additionsByOthersWhileTheOperatorWasDownGoUnlessTheyAreTheirsToMake() {
    operator.start();
    create(WITH_CONTROLLER);
    awaitPhase("Initializing");
    Map<String, String> before = snapshot();
    operator.stop();
    for (HasMetadata object : objects()) {
      Edits.edit(client.resource(object), Intruder::intrude);
    }
    assertThat(Snapshot.differences(snapshot(), before)).hasSameSizeAs(before.keySet());

    operator.start();

    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              var now = Snapshot.of(objects().stream().map(Intruder::leave).toList());
              assertThat(Snapshot.differences(now, before)).isEmpty();
            });
    // and what is theirs is not fought over
    awaitQuiet();
  }

  @Test
  void obsoleteObjectsAreRemovedAndForeignOnesKept() {
    var foreign =
        client
            .resource(
                new ConfigMapBuilder()
                    .withNewMetadata()
                    .withName("somebody-elses")
                    .withNamespace(sandbox.namespace())
                    .endMetadata()
                    .build())
            .create();
    PmemCSIDeployment resource = create(SPEC);
    client
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(H + "-controller")
                .withNamespace(sandbox.namespace())
                .addNewOwnerReference()
                .withApiVersion(resource.getApiVersion())
                .withKind(resource.getKind())
                .withName(NAME)
                .withUid(resource.getMetadata().getUid())
                .endOwnerReference()
                .endMetadata()
                .build())
        .create();

    operator.start();

    awaitPhase("Initializing");
    await()
        .until(
            () ->
                client
                        .configMaps()
                        .inNamespace(sandbox.namespace())
                        .withName(H + "-controller")
                        .get()
                    == null);
    assertThat(client.resource(foreign).get()).isNotNull();
  }

  private PmemCSIDeployment create(String spec) {
    return client.resource(PmemResource.of(NAME, spec)).create();
  }

  private List<HasMetadata> objects() {
    return Leftovers.objects(client, sandbox.namespace(), H, NAME);
  }

  private Map<String, String> snapshot() {
    return Snapshot.of(client, sandbox.namespace(), H, NAME);
  }

  private void awaitPhase(String phase) {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () -> assertThat(status().phaseOrNew()).as(status().toString()).isEqualTo(phase));
  }

  private void awaitQuiet() {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              int before = operator.writes().size();
              Thread.sleep(1000);
              return operator.writes().size() == before;
            });
  }

  private PmemCSIDeploymentStatus status() {
    return client.resources(PmemCSIDeployment.class).withName(NAME).get().getStatus();
  }

  private Optional<DaemonSet> daemonSet() {
    return Optional.ofNullable(
        client.apps().daemonSets().inNamespace(sandbox.namespace()).withName(H + "-node").get());
  }

  private List<String> events() {
    String uid =
        client.resources(PmemCSIDeployment.class).withName(NAME).get().getMetadata().getUid();
    return client.v1().events().inNamespace("default").list().getItems().stream()
        .filter(event -> uid.equals(event.getInvolvedObject().getUid()))
        .map(Event::getReason)
        .toList();
  }
}
