package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBinding;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.api.model.storage.CSIDriver;
import io.fabric8.kubernetes.api.model.storage.StorageClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.operator.runtime.OperatorOptions;
import io.pmemcsi.operator.runtime.OperatorProgram;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.testbed.kubernetes.Definitions;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code diff} says about a real cluster, and that the cluster stays as it is. */
@WithKubernetes
class DiffIT {

  private static final String NAME = "diff.pmem-csi.example.com";
  private static final String IMAGE = "registry.example.com/pmem-csi:1";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Sandbox sandbox;
  private KubernetesClient client;

  @BeforeEach
  void install(Sandbox sandbox) {
    this.sandbox = sandbox;
    this.client = sandbox.client();
    Definitions.install(client, Path.of("../deploy/crd"));
  }

  @Test
  void newResourceIsAllCreatedAndNothingIsWritten() {
    Map<String, String> before = versions();

    assertThat(diff("lvm", 3)).as(err()).isEqualTo(1);

    assertThat(out())
        .contains("PmemCSIDeployment \"%s\": created".formatted(NAME))
        .contains("CSIDriver \"%s\": created".formatted(NAME))
        .contains("+  name: \"diff-pmem-csi-example-com-node\"\n")
        .containsPattern("\n\\d+ created, 0 changed, 0 deleted and created again, 0 deleted, 0");
    assertThat(versions()).isEqualTo(before);
    assertThat(client.resources(PmemCSIDeployment.class).withName(NAME).get()).isNull();
  }

  @Test
  void installedResourceIsComparedObjectByObject() {
    settle();
    Map<String, String> before = versions();
    assertThat(before).hasSizeGreaterThan(5);

    assertThat(diff("lvm", 3)).as("%s%s", out(), err()).isZero();
    assertThat(out()).startsWith("0 created, 0 changed, 0 deleted and created again, 0 deleted, ");

    assertThat(diff("lvm", 5)).isEqualTo(1);
    assertThat(out())
        .contains("-  logLevel: 3\n+  logLevel: 5")
        .contains("DaemonSet \"diff-pmem-csi-example-com-node\" in namespace")
        .contains("-v=5")
        .containsPattern("0 created, [23] changed, 0 deleted and created again, 0 deleted, ");
    assertThat(versions()).isEqualTo(before);
  }

  @Test
  void everyFileIsCompared(@TempDir Path directory) throws Exception {
    Files.writeString(directory.resolve("templates.yaml"), templates());

    assertThat(diff(resource("lvm", 3), "-f", directory.toString())).as(err()).isEqualTo(1);
    assertThat(out())
        .containsSubsequence(
            "PmemCSIDeployment \"%s\": created".formatted(NAME),
            "CSIDriverDeployment \"diff-templates\"");
  }

  @Test
  void conflictingObjectThatIsNotOwnedIsNamed() {
    client
        .resource(
            new ServiceAccountBuilder()
                .withNewMetadata()
                .withName("diff-pmem-csi-example-com-node-setup")
                .endMetadata()
                .build())
        .create();

    assertThat(diff("lvm", 3)).isEqualTo(1);
    assertThat(out())
        .contains("was not created for this resource: the operator would write nothing");
  }

  @Test
  void driverFromTemplatesIsComparedObjectByObject() {
    settleTemplates();
    Map<String, String> before = versions();
    assertThat(before).hasSizeGreaterThan(5);

    assertThat(diff(templates())).as("%s%s", out(), err()).isZero();
    assertThat(out()).startsWith("0 created, 0 changed, 0 deleted and created again, 0 deleted, ");

    String changed =
        templates()
            .replace("any:1", "any:2")
            .replace("parameters: {a: b}", "parameters: {a: c}")
            .replace("  - metadata: {name: diff-gone}\n", "  - metadata: {name: diff-new}\n");
    assertThat(diff(changed)).isEqualTo(1);
    assertThat(out())
        .contains("DaemonSet \"diff-templates-node\" in namespace")
        .contains("-      - image: \"any:1\"\n+      - image: \"any:2\"\n")
        .contains("StorageClass \"diff-kept\": deleted and created again")
        .contains("StorageClass \"diff-gone\": deleted\n")
        .contains("StorageClass \"diff-new\": created\n")
        .containsPattern("\n1 created, 2 changed, 1 deleted and created again, 1 deleted, ");
    assertThat(versions()).isEqualTo(before);
  }

  @Test
  void whatKeepsTheOperatorFromWritingIsSaidInsteadOfObjects() {
    settleTemplates();

    assertThat(
            diff(templates().replace("  driverName", "  managementState: Unmanaged\n  driverName")))
        .isEqualTo(1);
    assertThat(out())
        .contains("+  managementState: \"Unmanaged\"")
        .contains("managementState is Unmanaged: the operator leaves all objects as they are")
        .contains("0 created, 1 changed, ");

    assertThat(diff(templates().replace("name: diff-templates", "name: diff-conflict")))
        .isEqualTo(1);
    assertThat(out())
        .contains(
            "the operator would write nothing: CSIDriverDeployment \"diff-templates\" in namespace"
                + " \"%s\", which is older, has the driver name".formatted(sandbox.namespace()))
        .contains("1 created, 0 changed, ");

    sandbox.create(volume("diff.templates.example.com"));
    assertThat(diff(templates().replace("diff.templates.", "diff.renamed."))).isEqualTo(1);
    assertThat(out())
        .contains("the operator would write nothing: driverName cannot change")
        .contains("1 PersistentVolume (diff-volume)")
        .contains("0 created, 1 changed, ");
  }

  /** Volumes need the former driver, and kubelets its CSIDriver: the operator makes it again. */
  @Test
  void recreatedCsiDriverIsShownWhileVolumesBlockARename() {
    settleTemplates();
    sandbox.create(volume("diff.templates.example.com"));
    var former = client.storage().v1().csiDrivers().withName("diff.templates.example.com");
    former.delete();

    assertThat(diff(templates().replace("diff.templates.", "diff.renamed."))).isEqualTo(1);

    assertThat(out())
        .contains("CSIDriver \"diff.templates.example.com\": created")
        .contains("the operator would write nothing else: driverName cannot change")
        .contains("1 created, 1 changed, ");
    assertThat(former.get()).isNull();
  }

  @Test
  void configurationOfTheOperatorInTheClusterCounts() {
    settleTemplates();
    sandbox.create(configuration("pmem-csi-operator-config", "mine:1"));

    assertThat(diff(templates())).as("%s%s", out(), err()).isEqualTo(1);

    assertThat(out()).contains("+        image: \"mine:1\"\n").contains("0 created, 1 changed, ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"pmem-csi-operator", "csi-operator"})
  void theOperatorIsFoundUnderTheNamesOfItsInstallationFiles(String name) {
    settleTemplates();
    new OperatorInstallation(name, sandbox.namespace(), IMAGE)
        .workload().stream()
            .filter(Deployment.class::isInstance)
            .map(Deployment.class::cast)
            .forEach(
                deployment -> {
                  deployment.getSpec().setReplicas(0);
                  sandbox.create(deployment);
                });
    sandbox.create(configuration(name + "-config", "mine:2"));

    assertThat(diff(templates())).as("%s%s", out(), err()).isEqualTo(1);

    assertThat(out()).contains("+        image: \"mine:2\"\n").contains("0 created, 1 changed, ");
  }

  private ConfigMap configuration(String name, String image) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(sandbox.namespace())
        .endMetadata()
        .withData(
            Map.of("config.yaml", "defaultImages: {driverRegistrarImage: '%s'}".formatted(image)))
        .build();
  }

  @Test
  void errorsAreNoDifferences() {
    assertThat(diff("floppy", 3)).isEqualTo(2);
    assertThat(err()).contains("standard input, document 1: ", "deviceMode");
    assertThat(run("", "diff", "-f", "/no/such/file")).isEqualTo(2);
    assertThat(err()).contains("/no/such/file does not exist");
    assertThat(out()).isEmpty();
  }

  private void settle() {
    settle(
        resource("lvm", 3),
        () ->
            "Initializing"
                .equals(
                    client
                        .resources(PmemCSIDeployment.class)
                        .withName(NAME)
                        .get()
                        .getStatus()
                        .phaseOrNew()));
  }

  private void settleTemplates() {
    settle(
        templates(),
        () ->
            client
                .resources(CSIDriverDeployment.class)
                .withName("diff-templates")
                .get()
                .getStatus()
                .condition("SyncSuccessful")
                .filter(synced -> synced.status().equals("True"))
                .isPresent());
  }

  /** Lets a real operator do its work, and leave. */
  private void settle(String yaml, Callable<Boolean> settled) {
    var options =
        new OperatorOptions(
            Optional.empty(), Optional.of(IMAGE), Optional.empty(), false, Optional.empty());
    HasMetadata resource = client.getKubernetesSerialization().unmarshal(yaml);
    client.resource(resource).create();
    sandbox.cleanUp(() -> delete(resource));
    try (var operator =
        OperatorProgram.start(
            client, options, Map.of("WATCH_NAMESPACE", sandbox.namespace()), Clock.systemUTC())) {
      assertThat(operator.metricsPort()).isEmpty();
      await().until(settled);
    }
    // the others who write: the controllers of DaemonSets and, on older servers, of tokens
    await()
        .until(
            () ->
                client.apps().daemonSets().list().getItems().stream()
                    .allMatch(
                        set ->
                            set.getMetadata()
                                .getGeneration()
                                .equals(set.getStatus().getObservedGeneration())));
    await()
        .until(
            () ->
                sandbox.version().isAtLeast(1, 24)
                    || client.serviceAccounts().list().getItems().stream()
                        .noneMatch(account -> account.getSecrets().isEmpty()));
  }

  /** No operator is left to take its finalizer off, or to remove what it has made. */
  private void delete(HasMetadata resource) {
    client
        .resource(resource)
        .edit(
            found -> {
              found.getMetadata().setFinalizers(List.of());
              return found;
            });
    client.resource(resource).delete();
    // the garbage collector would remove some of them, some time
    for (Class<? extends HasMetadata> kind :
        List.of(CSIDriver.class, StorageClass.class, ClusterRole.class, ClusterRoleBinding.class)) {
      client
          .resources(kind)
          .withLabel("csidriver.storage.openshift.io/owner-namespace", sandbox.namespace())
          .delete();
      client.resources(kind).withLabel("app.kubernetes.io/instance", NAME).delete();
    }
  }

  /** The version of everything that the operator may have written. */
  private Map<String, String> versions() {
    var result = new TreeMap<String, String>();
    for (Class<? extends HasMetadata> kind :
        List.of(
            PmemCSIDeployment.class,
            CSIDriverDeployment.class,
            CSIDriver.class,
            StorageClass.class,
            ClusterRole.class,
            RoleBinding.class,
            DaemonSet.class,
            ServiceAccount.class)) {
      // those of an earlier test may be on their way out of its namespace
      (Namespaced.class.isAssignableFrom(kind)
              ? client.resources(kind).inNamespace(sandbox.namespace()).list()
              : client.resources(kind).list())
          .getItems().stream()
              .filter(object -> object.getMetadata().getName().contains("diff"))
              .forEach(
                  object ->
                      result.put(
                          object.getKind() + "/" + object.getMetadata().getName(),
                          object.getMetadata().getResourceVersion()));
    }
    return result;
  }

  private int diff(String deviceMode, int logLevel) {
    return diff(resource(deviceMode, logLevel));
  }

  private int diff(String resource, String... more) {
    List<String> arguments =
        List.of(
            "diff",
            "-f",
            "-",
            "-n",
            sandbox.namespace(),
            "--image",
            IMAGE,
            "--kubeconfig",
            sandbox.cluster().kubeconfig().toString());
    return run(
        resource, Stream.concat(arguments.stream(), Arrays.stream(more)).toArray(String[]::new));
  }

  private static PersistentVolume volume(String driver) {
    return new PersistentVolumeBuilder()
        .withNewMetadata()
        .withName("diff-volume")
        .endMetadata()
        .withNewSpec()
        .withCapacity(Map.of("storage", new Quantity("1Gi")))
        .withAccessModes("ReadWriteOnce")
        .withNewCsi()
        .withDriver(driver)
        .withVolumeHandle("one")
        .endCsi()
        .endSpec()
        .build();
  }

  private static String templates() {
    return """
    apiVersion: csidriver.storage.openshift.io/v1alpha1
    kind: CSIDriverDeployment
    metadata:
      name: diff-templates
    spec:
      driverName: diff.templates.example.com
      driverSocket: /run/csi/csi.sock
      nodeUpdateStrategy: OnDelete
      storageClassTemplates:
      - metadata: {name: diff-kept}
        parameters: {a: b}
      - metadata: {name: diff-gone}
      driverPerNodeTemplate:
        spec:
          containers:
          - {name: driver, image: "any:1", securityContext: {privileged: true}}
    """;
  }

  private static String resource(String deviceMode, int logLevel) {
    return """
    apiVersion: pmem-csi.intel.com/v1beta1
    kind: PmemCSIDeployment
    metadata:
      name: %s
    spec:
      deviceMode: %s
      logLevel: %d
    """
        .formatted(NAME, deviceMode, logLevel);
  }

  private int run(String input, String... arguments) {
    out.reset();
    err.reset();
    return Program.run(
        List.of(arguments),
        new CliEnvironment(
            Map.of(),
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8)));
  }

  private String out() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
