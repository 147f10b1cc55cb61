package io.pmemcsi.demo;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemCSIDeploymentStatus;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.embedded.EmbeddedKubernetes;
import io.pmemcsi.operator.facts.ClusterProbe;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.render.Rendering;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** The real operator on an in-process Kubernetes API, from sample resources to their deletion. */
final class OperatorDemo {

  private static final String PLAIN = "pmem-csi.yaml";
  private static final String WITH_CONTROLLER = "pmem-csi-controller.yaml";
  private static final String TEMPLATES = "hostpath.yaml";
  static final String NAMESPACE = "pmem-csi";
  private static final String IMAGE = "pmem-csi-driver:demo";
  private static final String RUNNING = "Running";
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static final int NODES = 3;
  private static final Duration POD_START = Duration.ofMillis(400);

  private final Narrator narrator;
  private final Interruption interruption;
  private final Rendering rendering = new Rendering();

  OperatorDemo(Narrator narrator, Interruption interruption) {
    this.narrator = narrator;
    this.interruption = interruption;
  }

  void run() {
    narrator.heading("1. The operator, on an in-process Kubernetes API");
    PmemCSIDeployment plain = sample(PLAIN);
    PmemCSIDeployment withController = sample(WITH_CONTROLLER);
    try (EmbeddedKubernetes kubernetes = EmbeddedKubernetes.start();
        KubernetesClient client = client(kubernetes);
        SimulatedPods _ = SimulatedPods.start(client, POD_START)) {
      narrator.say(
          "Kubernetes API (in this process, version %s): %s"
              .formatted(client.getKubernetesVersion().getGitVersion(), kubernetes.url()));
      install(client);
      Map<String, String> selector = PmemSettings.of(plain).nodeSelector();
      createNodes(client, selector);
      narrator.say("Nodes (simulated): %d, labelled %s".formatted(NODES, selector));
      try (OperatorProgram _ = operator(client)) {
        narrator.say("The operator is running.");

        List<HasMetadata> objects = create(client, PLAIN, plain);
        repair(client, objects);
        edit(client, name(plain), objects);
        delete(client, name(plain), objects);

        narrator.say(
            "\nThe next sample has a controller: scheduler extender, pod webhook and rescheduler.");
        delete(client, name(withController), create(client, WITH_CONTROLLER, withController));

        new TemplateDriver(narrator, client, this::await)
            .show(TEMPLATES, text("/deploy/samples/" + TEMPLATES), NAMESPACE);
      }
    }
  }

  /** Returns the objects that the operator created for the sample. */
  private List<HasMetadata> create(KubernetesClient client, String file, PmemCSIDeployment sample) {
    String name = name(sample);
    narrator.say(
        "\nApplying deploy/samples/%s, PmemCSIDeployment %s. Its status (pods are simulated):"
            .formatted(file, name));
    var table =
        new StatusTable<>(
            narrator.table(new String[] {"AFTER", "PHASE", "REASON"}, 8, 12),
            OperatorDemo::phaseAndReason,
            row -> row.getFirst().equals(RUNNING));
    try (Watch _ = client.resources(PmemCSIDeployment.class).withName(name).watch(table)) {
      client.resource(sample).create();
      await("the deployment to run", table::isComplete);
    }
    List<HasMetadata> objects = objects(client, sample);
    showObjects(client, objects);
    return objects;
  }

  private void showObjects(KubernetesClient client, List<HasMetadata> objects) {
    narrator.say("\nThe objects that the operator created:");
    Narrator.Table table = narrator.table(new String[] {"KIND", "NAMESPACE", "NAME"}, 28, 9);
    for (HasMetadata object : objects) {
      if (find(client, object).isEmpty()) {
        throw new FatalException("the demo misses %s %s".formatted(kind(object), name(object)));
      }
      table.row(kind(object), namespace(object), name(object));
    }
  }

  private void repair(KubernetesClient client, List<HasMetadata> objects) {
    HasMetadata deleted = first(objects, "DaemonSet");
    narrator.say("\nA user deletes DaemonSet %s.".formatted(name(deleted)));
    String before = uid(client, deleted);
    long start = System.nanoTime();
    client.resource(deleted).delete();
    await(
        "the DaemonSet to be recreated",
        () -> find(client, deleted).map(found -> !uid(found).equals(before)).orElse(false));
    narrator.say("The operator recreated it after %s.".formatted(since(start)));
  }

  private void edit(KubernetesClient client, String name, List<HasMetadata> objects) {
    HasMetadata daemonSet = first(objects, "DaemonSet");
    narrator.say("\nThe administrator sets logLevel to 5.");
    long start = System.nanoTime();
    client
        .resources(PmemCSIDeployment.class)
        .withName(name)
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"logLevel\":5}}");
    await(
        "the DaemonSet to get the new log level",
        () ->
            find(client, daemonSet)
                .map(
                    found -> client.getKubernetesSerialization().asJson(found).contains("\"-v=5\""))
                .orElse(false));
    narrator.say("The pods' argument is -v=5 after %s.".formatted(since(start)));
    await("the deployment to run again", () -> phase(client, name).equals(RUNNING));
  }

  private void delete(KubernetesClient client, String name, List<HasMetadata> objects) {
    narrator.say("\nThe administrator deletes the PmemCSIDeployment.");
    long start = System.nanoTime();
    client.resources(PmemCSIDeployment.class).withName(name).delete();
    await(
        "all objects to be deleted",
        () ->
            objects.stream().allMatch(object -> find(client, object).isEmpty())
                && client.resources(PmemCSIDeployment.class).withName(name).get() == null);
    narrator.say("All %d objects were deleted after %s.".formatted(objects.size(), since(start)));
  }

  private List<HasMetadata> objects(KubernetesClient client, PmemCSIDeployment sample) {
    return rendering.objects(sample, new ClusterProbe(client).facts(NAMESPACE, IMAGE));
  }

  static void install(KubernetesClient client) {
    client
        .resource(
            new NamespaceBuilder().withNewMetadata().withName(NAMESPACE).endMetadata().build())
        .create();
    for (String crd :
        List.of(
            "pmem-csi.intel.com_pmemcsideployments.yaml",
            "pmem-csi.intel.com_deployments.yaml",
            "csidriver.storage.openshift.io_csidriverdeployments.yaml")) {
      client.resource(text("/io/pmemcsi/api/crd/" + crd)).create();
    }
  }

  private static void createNodes(KubernetesClient client, Map<String, String> labels) {
    for (int i = 1; i <= NODES; i++) {
      client
          .resource(
              new NodeBuilder()
                  .withNewMetadata()
                  .withName("simulated-" + i)
                  .withLabels(labels)
                  .endMetadata()
                  .build())
          .create();
    }
  }

  private PmemCSIDeployment sample(String file) {
    String text = text("/deploy/samples/" + file);
    if (rendering.read(text) instanceof PmemCSIDeployment sample) {
      return sample;
    }
    throw new IllegalStateException("sample %s is no PmemCSIDeployment".formatted(file));
  }

  private static OperatorProgram operator(KubernetesClient client) {
    return OperatorProgram.start(
        client,
        new OperatorOptions(
            Optional.empty(), Optional.of(IMAGE), Optional.empty(), false, Optional.empty()),
        Map.of("WATCH_NAMESPACE", NAMESPACE),
        Clock.systemUTC());
  }

  private static KubernetesClient client(EmbeddedKubernetes kubernetes) {
    Config config =
        new ConfigBuilder(Config.empty()).withMasterUrl(kubernetes.url().toString()).build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  private static String phase(KubernetesClient client, String name) {
    PmemCSIDeployment found = client.resources(PmemCSIDeployment.class).withName(name).get();
    PmemCSIDeploymentStatus status = found == null ? null : found.getStatus();
    return status == null ? "" : status.phaseOrNew();
  }

  private static List<String> phaseAndReason(PmemCSIDeployment resource) {
    PmemCSIDeploymentStatus status = resource.getStatus();
    String phase = status == null ? "" : status.phaseOrNew();
    String reason = status == null || status.reason() == null ? "" : status.reason();
    return List.of(phase.isEmpty() ? "(new)" : phase, reason);
  }

  private static Optional<HasMetadata> find(KubernetesClient client, HasMetadata object) {
    return Optional.ofNullable(client.resource(object).get());
  }

  private static String uid(KubernetesClient client, HasMetadata object) {
    return find(client, object).map(OperatorDemo::uid).orElse("");
  }

  private static String uid(HasMetadata object) {
    return object.getMetadata().getUid();
  }

  private static HasMetadata first(List<HasMetadata> objects, String kind) {
    return objects.stream()
        .filter(object -> kind(object).equals(kind))
        .findFirst()
        .orElseThrow(() -> new FatalException("the demo misses a " + kind));
  }

  private static String kind(HasMetadata object) {
    return object.getKind();
  }

  private static String name(HasMetadata object) {
    return object.getMetadata().getName();
  }

  private static String namespace(HasMetadata object) {
    String namespace = object.getMetadata().getNamespace();
    return namespace == null ? "-" : namespace;
  }

  private static String since(long start) {
    return Narrator.seconds(Duration.ofNanos(System.nanoTime() - start));
  }

  private void await(String what, BooleanSupplier reached) {
    long end = System.nanoTime() + TIMEOUT.toNanos();
    while (!reached.getAsBoolean()) {
      interruption.check();
      if (System.nanoTime() > end) {
        throw new FatalException(
            "the demo waited %d s for %s: run it again with -v=3 to see why"
                .formatted(TIMEOUT.toSeconds(), what));
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new FatalException("interrupted", e);
      }
    }
  }

  static String text(String resource) {
    try (InputStream in = OperatorDemo.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(resource + " is not in the program");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
