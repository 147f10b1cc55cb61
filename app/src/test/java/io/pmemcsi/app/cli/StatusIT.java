package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.kinds.Kinds;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What {@code status} says about the objects of a real cluster. */
@WithKubernetes
class StatusIT {

  private static final String DRIVER = "status.example.com";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Sandbox sandbox;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    Definitions.install(sandbox.client(), Path.of("../deploy/crd"));
  }

  @Test
  void aHealthyDriverShowsItsNodesAndVolumes() throws Exception {
    driver("Running", "All driver components are ready", "True", "all objects exist");
    volumes();
    // a controller sets the phase of the volume
    await()
        .until(
            () -> {
              out.reset();
              status(DRIVER);
              return out.toString(StandardCharsets.UTF_8).contains("4 GiB used");
            });
    out.reset();

    assertThat(status(DRIVER)).as(() -> out + err.toString(StandardCharsets.UTF_8)).isEqualTo(0);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .startsWith(DRIVER + ": Running (PmemCSIDeployment " + DRIVER + ")\n")
        .contains("  All driver components are ready\n")
        .containsPattern("DriverDeployed +True")
        .containsPattern("worker-1 +4 GiB used +no capacity is published")
        .containsPattern(sandbox.namespace() + "/data +4 GiB +\\w* +worker-1 +app")
        .containsPattern(sandbox.namespace() + "/inline:scratch +2 GiB +Pending +inline");
  }

  @Test
  void aDriverThatIsNotReadyIsAProblem() {
    driver("Initializing", "0 out of 1 driver pods are ready", "True", "all objects exist");
    patch(
        """
        {"status": {"driverComponents": [
          {"component": "Node", "status": "NotReady", "reason": "0 out of 1 driver pods are ready"}],
         "conditions": [{"type": "NodesLost", "status": "True", "message": "create the node"}]}}
        """);

    assertThat(status(DRIVER)).isEqualTo(1);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .startsWith(
            """
            %s: Initializing (PmemCSIDeployment %s)
              ! Node is NotReady: 0 out of 1 driver pods are ready
              ! NodesLost is True: create the node
            """
                .formatted(DRIVER, DRIVER));
  }

  @Test
  void aNewResourceIsAProblem() {
    sandbox.create(resource());

    assertThat(status(DRIVER)).isEqualTo(1);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .startsWith(DRIVER + ": new (")
        .contains("! No operator has observed the resource: check that the operator runs");
  }

  @Test
  void aDriverFromATemplateShowsItsStateAndItsUpdate() {
    String name = "status-template.example.com";
    sandbox.create(
        sandbox
            .client()
            .getKubernetesSerialization()
            .unmarshal(
                """
                metadata: {name: any, namespace: %s}
                spec:
                  driverName: %s
                  driverSocket: /csi/csi.sock
                  driverPerNodeTemplate: {spec: {containers: [{name: any, image: any}]}}
                """
                    .formatted(sandbox.namespace(), name),
                CSIDriverDeployment.class));
    sandbox
        .client()
        .resources(CSIDriverDeployment.class)
        .inNamespace(sandbox.namespace())
        .withName("any")
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            """
            {"status": {"state": "Managed", "conditions": [
              {"type": "SyncSuccessful", "status": "True"},
              {"type": "Available", "status": "True"},
              {"type": "Ready", "status": "True", "message": "all pods are ready"}],
             "nodeUpdate": {"nodes": 3, "updatedNodes": 1}}}
            """);

    assertThat(status(name)).as(out::toString).isEqualTo(0);
    assertThat(out.toString(StandardCharsets.UTF_8))
        .startsWith(
            """
            %s: Available (CSIDriverDeployment %s/any)
              all pods are ready
              In progress
                1 of 3 nodes are updated
            """
                .formatted(name, sandbox.namespace()));
  }

  @Test
  void everyKindIsListedUnderItsDriversName() throws Exception {
    var expected = new ArrayList<Tuple>();
    for (DriverKind<?, ?, ?, ?, ?> kind : Kinds.offline().all()) {
      expected.add(create(kind));
    }

    assertThat(status("-o", "json")).as(err::toString).isEqualTo(1);
    assertThat(new ObjectMapper().readTree(out.toByteArray()))
        .extracting(one -> one.get("driver").asText(), one -> one.get("resource").asText())
        .containsAll(expected);
  }

  /** The driver's name and the title of the report. */
  private <R extends CustomResource<?, S>, S> Tuple create(DriverKind<R, S, ?, ?, ?> kind) {
    R resource = kind.withEveryFeature();
    String name = "status-" + kind.traits().controllerName();
    resource.getMetadata().setName(name);
    String title = resource.getKind() + " " + name;
    if (resource instanceof Namespaced) {
      resource.getMetadata().setNamespace(sandbox.namespace());
      title = "%s %s/%s".formatted(resource.getKind(), sandbox.namespace(), name);
    }
    sandbox.create(resource);
    return tuple(kind.driverName(resource).orElseThrow(), title);
  }

  @Test
  void anotherContextIsAnotherCluster() throws Exception {
    Path kubeconfig = Files.createTempFile("status", ".kubeconfig");
    Files.writeString(
        kubeconfig,
        Files.readString(sandbox.cluster().kubeconfig())
            .replaceFirst("(?m)^current-context:.*$", "current-context: elsewhere"));
    String context = currentContext();
    sandbox.create(resource());

    assertThat(run("status", DRIVER, "--kubeconfig=" + kubeconfig)).isEqualTo(2);
    assertThat(run("status", DRIVER, "--kubeconfig=" + kubeconfig, "--context=" + context))
        .as(err::toString)
        .isEqualTo(1);
    assertThat(run("status", "--kubeconfig=" + kubeconfig, "--context=nowhere")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("current-context \"nowhere\" is not among its contexts");
    Files.delete(kubeconfig);
  }

  private String currentContext() throws Exception {
    return Files.readAllLines(sandbox.cluster().kubeconfig()).stream()
        .filter(line -> line.startsWith("current-context:"))
        .map(line -> line.substring("current-context:".length()).strip().replace("\"", ""))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void problemsComeFirstAndTheExitCodeSaysSo() throws Exception {
    driver("Failed", "image is not allowed", "False", "the server refuses the DaemonSet");

    assertThat(status(DRIVER, "-o", "json"))
        .as(() -> out + err.toString(StandardCharsets.UTF_8))
        .isEqualTo(1);
    JsonNode report = new ObjectMapper().readTree(out.toByteArray()).get(0);
    assertThat(report.path("problems"))
        .extracting(JsonNode::asText)
        .containsExactly(
            "Failed: image is not allowed",
            "DriverDeployed is False: the server refuses the DaemonSet",
            "Node worker-2 runs the driver but has no memory");
  }

  @Test
  void anUnknownDriverIsAnError() {
    assertThat(status("nothing.example.com")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .contains("no resource installs the driver nothing.example.com");
  }

  @Test
  void anUnknownFormatIsAnError() {
    assertThat(status("-o", "xml")).isEqualTo(2);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("--output=xml: use text or json");
  }

  private void driver(String phase, String reason, String deployed, String message) {
    sandbox.create(resource());
    patch(
        """
        {"status": {"phase": "%s", "reason": "%s",
          "conditions": [{"type": "DriverDeployed", "status": "%s", "reason": "%s"}],
          "unpreparedNodes": %s}}
        """
            .formatted(
                phase,
                reason,
                deployed,
                message,
                phase.equals("Failed") ? "[{\"node\": \"worker-2\"}]" : "[]"));
  }

  private PmemCSIDeployment resource() {
    return sandbox
        .client()
        .getKubernetesSerialization()
        .unmarshal(
            "metadata: {name: %s}\nspec: {deviceMode: lvm}".formatted(DRIVER),
            PmemCSIDeployment.class);
  }

  private void patch(String status) {
    sandbox
        .client()
        .resources(PmemCSIDeployment.class)
        .withName(DRIVER)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), status);
  }

  private void volumes() {
    String text =
        """
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: NAMESPACE}
        provisioner: DRIVER
        ---
        apiVersion: v1
        kind: PersistentVolume
        metadata: {name: NAMESPACE}
        spec:
          capacity: {storage: 4Gi}
          accessModes: [ReadWriteOnce]
          storageClassName: NAMESPACE
          csi: {driver: DRIVER, volumeHandle: v1}
          claimRef: {namespace: NAMESPACE, name: data}
          nodeAffinity:
            required:
              nodeSelectorTerms:
              - matchExpressions:
                - {key: DRIVER/node, operator: In, values: [worker-1]}
        ---
        apiVersion: storage.k8s.io/v1
        kind: CSINode
        metadata: {name: worker-1}
        spec: {drivers: [{name: DRIVER, nodeID: worker-1, topologyKeys: [DRIVER/node]}]}
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: inline, namespace: NAMESPACE}
        spec:
          containers: [{name: main, image: any}]
          volumes: [{name: scratch, csi: {driver: DRIVER, volumeAttributes: {size: 2Gi}}}]
        ---
        apiVersion: v1
        kind: Pod
        metadata: {name: app, namespace: NAMESPACE}
        spec:
          containers: [{name: main, image: any}]
          volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
        """
            .replace("NAMESPACE", sandbox.namespace())
            .replace("DRIVER", DRIVER);
    for (String document : text.split("---\n", -1)) {
      HasMetadata object = sandbox.client().getKubernetesSerialization().unmarshal(document);
      sandbox.create(object);
    }
  }

  private int status(String... arguments) {
    List<String> all = new ArrayList<>(List.of("status"));
    all.addAll(List.of(arguments));
    all.add("--kubeconfig=" + sandbox.cluster().kubeconfig());
    return run(all.toArray(String[]::new));
  }

  private int run(String... arguments) {
    return Program.run(
        List.of(arguments),
        new CliEnvironment(
            Map.of(),
            new ByteArrayInputStream(new byte[0]),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8)));
  }
}
