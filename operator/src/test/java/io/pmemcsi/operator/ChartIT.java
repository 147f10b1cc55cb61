package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.InstallCommand;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.Release;
import com.marcnuri.helm.TemplateCommand;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.pmemcsi.operator.tools.install.OperatorInstallation;
import io.pmemcsi.operator.tools.render.Rendering;
import io.pmemcsi.operator.yaml.YamlText;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The Helm chart, in the hands of the real Helm. */
@WithKubernetes
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "Helm's library is for it")
class ChartIT {

  private static final String NAME = "pmem-csi";
  private static final String DRIVER = "chart.pmem-csi.example.com";
  private static final Path CHART = Path.of("..", "deploy", "helm", "pmem-csi");

  private final Helm helm = new Helm(CHART);

  @Test
  void lintFindsNothing() {
    LintResult result = helm.lint().strict().call();

    assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
  }

  /** Packed as build/release-files does it. */
  @Test
  void lintFindsNothingInTheArchiveOfARelease(@TempDir Path directory) throws Exception {
    Path archive = directory.resolve("pmem-csi.tgz");
    Process tar =
        new ProcessBuilder(
                "tar",
                "--create",
                "--gzip",
                "--file=" + archive,
                "-C",
                CHART.getParent().toString(),
                NAME)
            .inheritIO()
            .start();
    assertThat(tar.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(tar.exitValue()).isZero();

    LintResult result = new Helm(archive).lint().strict().call();

    assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
  }

  @Test
  void withDefaultValuesItHasTheObjectsOfTheOperatorsYaml() {
    String rendered =
        helm.template().withName(NAME).withNamespace("ns").set("image.tag", "canary").call();

    assertThat(objects(rendered))
        .containsExactlyInAnyOrderElementsOf(
            objects(
                new Rendering()
                    .yaml(
                        Stream.of(
                                new OperatorInstallation("ns", OperatorInstallation.DEFAULT_IMAGE))
                            .flatMap(
                                operator ->
                                    Stream.of(operator.permissions(), operator.workload())
                                        .flatMap(List::stream))
                            .toList())));
  }

  @Test
  void valuesReachTheObjects() {
    String rendered =
        helm.template()
            .withName(NAME)
            .withNamespace("ns")
            .set("image.repository", "registry.example.com/pmem-csi")
            .set("image.tag", "v1")
            .set("replicas", 2)
            .set("logLevel", 5)
            .set("nodeSelector.disk", "fast")
            .set("imagePullSecrets[0].name", "secret")
            .set("tolerations[0].operator", "Exists")
            .set("config.kubeletRootDir", "/data/kubelet")
            .set("driver.enabled", true)
            .set("driver.spec.deviceMode", "direct")
            .set("storageClasses[0].name", "xfs")
            .set("storageClasses[0].default", true)
            .set("storageClasses[0].parameters.eraseAfter", false)
            .set("networkPolicy.enabled", false)
            .set("monitors.enabled", true)
            .set("monitors.labels.release", "prometheus")
            .call();

    assertThat(rendered)
        .contains("image: registry.example.com/pmem-csi:v1\n")
        .contains("replicas: 2\n")
        .contains("- -v=5\n")
        .contains("nodeSelector:\n        disk: fast\n")
        .contains("imagePullSecrets:\n        - name: secret\n")
        .contains("tolerations:\n        - operator: Exists\n")
        .contains("    kubeletRootDir: /data/kubelet\n")
        .contains("deviceMode: direct\n")
        .contains("storageclass.kubernetes.io/is-default-class: \"true\"\n")
        .contains("eraseAfter: \"false\"\n")
        .contains("kind: PodMonitor\n")
        .contains("release: prometheus\n")
        .doesNotContain("kind: NetworkPolicy");
    assertThat(objects(rendered)).extracting(o -> o.get("kind").asText()).contains("StorageClass");
  }

  @Test
  void theDefaultClassIsThatOfThePlainYaml() throws IOException {
    String rendered = helm.template().withName(NAME).set("driver.enabled", true).call();

    assertThat(objects(rendered))
        .filteredOn(object -> object.path("kind").asText().equals("StorageClass"))
        .isEqualTo(
            objects(
                Files.readString(
                    Path.of("..", "deploy", "common", "pmem-storageclass-late-binding.yaml"))));
  }

  @Test
  void theDriverIsPulledAsTheOperatorUnlessItsSpecSaysOtherwise() {
    assertThat(
            driverSpec(
                helm.template()
                    .set("image.pullPolicy", "Always")
                    .set("imagePullSecrets[0].name", "secret")))
        .isEqualTo(
            Map.of(
                "deviceMode",
                "lvm",
                "nodeSelector",
                Map.of("storage", "pmem"),
                "pullPolicy",
                "Always",
                "imagePullSecrets",
                List.of(Map.of("name", "secret"))));
    assertThat(
            driverSpec(
                helm.template()
                    .set("image.pullPolicy", "Always")
                    .set("imagePullSecrets[0].name", "secret")
                    .set("driver.spec.imagePullPolicy", "Never")
                    .set("driver.spec.imagePullSecrets[0].name", "other")))
        .isEqualTo(
            Map.of(
                "deviceMode",
                "lvm",
                "nodeSelector",
                Map.of("storage", "pmem"),
                "imagePullPolicy",
                "Never",
                "imagePullSecrets",
                List.of(Map.of("name", "other"))));
  }

  private static Object driverSpec(TemplateCommand template) {
    return objects(template.withName(NAME).set("driver.enabled", true).call()).stream()
        .filter(object -> object.path("kind").asText().equals("PmemCSIDeployment"))
        .map(object -> new ObjectMapper().convertValue(object.path("spec"), Map.class))
        .findFirst()
        .orElseThrow();
  }

  /** The alert rules need its job names and labels. */
  @Test
  void monitorsScrapeAsThePlainYamlDoes() throws IOException {
    String rendered =
        helm.template().withName(NAME).withNamespace("ns").set("monitors.enabled", true).call();
    String plain = Files.readString(Path.of("..", "deploy", "monitoring", "podmonitors.yaml"));

    assertThat(endpoints(rendered)).hasSize(2).isEqualTo(endpoints(plain));
  }

  private static List<String> endpoints(String yaml) {
    return objects(yaml).stream()
        .filter(object -> object.path("kind").asText().equals("PodMonitor"))
        .map(
            monitor ->
                monitor.at("/metadata/name").asText()
                    + " "
                    + monitor.at("/spec/podMetricsEndpoints"))
        .sorted()
        .toList();
  }

  @ParameterizedTest
  @CsvSource({
    "replicas,two,replicas",
    "image.pullPolicy,Sometimes,pullPolicy",
    "imge.tag,1,imge",
    "driver.spec.deviceMode,tape,deviceMode",
    "driver.spec.devicemode,lvm,devicemode",
    "driver.spec.pmemPercentage,101,pmemPercentage",
    "storageClasses[0].volumeBindingMode,Late,volumeBindingMode",
    "config.kubeletRootdir,/data/kubelet,kubeletRootdir",
    "config.kubeletRootDir,data,kubeletRootDir",
    "config.deploymentReplicas,two,deploymentReplicas",
    "config.defaultImages.resizer,image,resizer",
    "tolerations[0].effect,NoStart,effect",
    "resources.limits.memory,much,memory"
  })
  void wrongValueIsRefusedByName(String name, String value, String named) {
    assertThatThrownBy(() -> helm.template().withName(NAME).set(name, value).call())
        .hasMessageContaining(named);
  }

  @Test
  void isInstalledUpgradedAndUninstalled(Sandbox sandbox) {
    sandbox.cleanUp(() -> deleteDriver(sandbox));
    deleteOtherInstallation(sandbox);

    Release installed = install(sandbox).call();

    assertThat(installed.getStatus()).isEqualTo("deployed");
    assertThat(operator(sandbox).getSpec().getReplicas()).isOne();
    assertThat(driver(sandbox).getAdditionalProperties()).containsKey("spec");
    assertThat(sandbox.client().storage().v1().storageClasses().withName("chart-late").get())
        .extracting(found -> found.getProvisioner())
        .isEqualTo(DRIVER);

    Release upgraded =
        helm.upgrade()
            .withName(NAME)
            .withNamespace(sandbox.namespace())
            .withKubeConfig(sandbox.cluster().kubeconfig())
            .reuseValues()
            .set("replicas", 2)
            .call();

    assertThat(upgraded.getRevision()).isEqualTo("2");
    assertThat(operator(sandbox).getSpec().getReplicas()).isEqualTo(2);

    Helm.uninstall(NAME)
        .withNamespace(sandbox.namespace())
        .withKubeConfig(sandbox.cluster().kubeconfig())
        .call();

    assertThat(sandbox.client().apps().deployments().inNamespace(sandbox.namespace()).list())
        .extracting(list -> list.getItems())
        .isEqualTo(List.of());
    assertThat(sandbox.client().rbac().clusterRoles().withName(OperatorInstallation.NAME).get())
        .isNull();
    // only an operator can remove a driver from the nodes
    assertThat(driver(sandbox)).isNotNull();
  }

  /** Other tests on this API server leave the operator's cluster-scoped objects. */
  private static void deleteOtherInstallation(Sandbox sandbox) {
    new OperatorInstallation(sandbox.namespace(), OperatorInstallation.DEFAULT_IMAGE)
        .objects().stream()
            .filter(object -> !(object instanceof Namespace))
            .forEach(
                object ->
                    sandbox.client().resource(object).withTimeout(1, TimeUnit.MINUTES).delete());
  }

  private InstallCommand install(Sandbox sandbox) {
    return helm.install()
        .withName(NAME)
        .withNamespace(sandbox.namespace())
        .withKubeConfig(sandbox.cluster().kubeconfig())
        .set("driver.enabled", true)
        .set("driver.name", DRIVER)
        .set("storageClasses[0].name", "chart-late");
  }

  private static Deployment operator(Sandbox sandbox) {
    return sandbox
        .client()
        .apps()
        .deployments()
        .inNamespace(sandbox.namespace())
        .withName(OperatorInstallation.NAME)
        .get();
  }

  private static GenericKubernetesResource driver(Sandbox sandbox) {
    return sandbox
        .client()
        .genericKubernetesResources("pmem-csi.intel.com/v1beta1", "PmemCSIDeployment")
        .withName(DRIVER)
        .get();
  }

  private static void deleteDriver(Sandbox sandbox) {
    sandbox
        .client()
        .genericKubernetesResources("pmem-csi.intel.com/v1beta1", "PmemCSIDeployment")
        .withName(DRIVER)
        .delete();
  }

  private static List<JsonNode> objects(String yaml) {
    return YamlText.documents(yaml).stream().map(YamlText.Document::content).toList();
  }
}
