package io.pmemcsi.operator.tools.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pmemcsi.api.kinds.ResourceChecks;
import io.pmemcsi.operator.yaml.YamlText;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the Operator Lifecycle Manager and its catalogs check in a bundle. */
class ClusterServiceVersionTest {

  private final List<GeneratedFile> files = BundleFiles.all();
  private final JsonNode csv = content(BundleFiles.CLUSTER_SERVICE_VERSION);

  @Test
  void nameIsOneThatKubernetesAccepts() {
    assertThat(csv.at("/metadata/name").asText())
        .matches("pmem-csi-operator\\.v[0-9]+\\.[0-9]+\\.[0-9]+[-.a-z0-9]*");
  }

  /**
   * Of these fields a catalog shows an operator, and without the last ones nothing is installed.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "/metadata/annotations/capabilities",
        "/metadata/annotations/categories",
        "/metadata/annotations/containerImage",
        "/metadata/annotations/description",
        "/spec/displayName",
        "/spec/description",
        "/spec/version",
        "/spec/maturity",
        "/spec/minKubeVersion",
        "/spec/keywords/0",
        "/spec/provider/name",
        "/spec/install/strategy",
        "/spec/install/spec/deployments/0/name"
      })
  void fieldIsSet(String path) {
    assertThat(csv.at(path).asText()).isNotBlank();
  }

  @Test
  void everyInstallModeIsDecided() {
    assertThat(csv.at("/spec/installModes"))
        .extracting(mode -> mode.get("type").asText())
        .containsExactlyInAnyOrder(
            "OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces");
  }

  /** The directories that the annotations name are those of the files. */
  @Test
  void annotationsDescribeTheBundle() {
    JsonNode annotations =
        content(BundleFiles.BUNDLE + "metadata/annotations.yaml").get("annotations");
    String prefix = "operators.operatorframework.io.bundle.";

    assertThat(annotations.get(prefix + "mediatype.v1").asText()).isEqualTo("registry+v1");
    assertThat(files)
        .extracting(GeneratedFile::path)
        .contains(
            BundleFiles.BUNDLE
                + annotations.get(prefix + "metadata.v1").asText()
                + "annotations.yaml")
        .filteredOn(path -> path.endsWith(".yaml") && !path.endsWith("/annotations.yaml"))
        .allMatch(
            path ->
                path.startsWith(
                    BundleFiles.BUNDLE + annotations.get(prefix + "manifests.v1").asText()));
    assertThat(csv.at("/metadata/name").asText())
        .startsWith(annotations.get(prefix + "package.v1").asText() + ".v");
    assertThat(annotations.get(prefix + "channels.v1").asText().split(",", -1))
        .contains(annotations.get(prefix + "channel.default.v1").asText());
  }

  /** With a bundle the operator may do, and runs, what it does with the YAML file. */
  @Test
  void permissionsAndDeploymentAreThoseOfTheYamlFile() {
    List<JsonNode> installed =
        YamlText.documents(GeneratedFile.copyOf("operator/pmem-csi-operator.yaml", "").text())
            .stream()
            .map(YamlText.Document::content)
            .filter(object -> object.at("/metadata/name").asText().equals("pmem-csi-operator"))
            .toList();
    JsonNode strategy = csv.at("/spec/install/spec");

    assertThat(strategy.at("/permissions/0/rules"))
        .isEqualTo(ofKind(installed, "Role").get("rules"));
    assertThat(strategy.at("/clusterPermissions/0/rules"))
        .isEqualTo(ofKind(installed, "ClusterRole").get("rules"));
    assertThat(strategy.at("/deployments/0/spec"))
        .isEqualTo(ofKind(installed, "Deployment").get("spec"));
  }

  private static JsonNode ofKind(List<JsonNode> objects, String kind) {
    return objects.stream()
        .filter(object -> object.get("kind").asText().equals(kind))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void configurationThatTheDeploymentMountsIsInTheBundle() {
    assertThat(
            csv.at("/spec/install/spec/deployments/0/spec/template/spec/volumes")
                .findValue("configMap")
                .get("name"))
        .isEqualTo(
            content(BundleFiles.BUNDLE + "manifests/pmem-csi-operator-config.yaml")
                .at("/metadata/name"));
  }

  @Test
  void everyOwnedDefinitionIsInTheBundleWithDescriptionsOfItsFields() {
    List<JsonNode> definitions =
        files.stream()
            .filter(file -> file.path().matches(".*/manifests/.*_.*\\.yaml"))
            .map(file -> content(file.path()))
            .toList();
    JsonNode owned = csv.at("/spec/customresourcedefinitions/owned");

    assertThat(owned).hasSameSizeAs(definitions);
    for (JsonNode kind : owned) {
      JsonNode definition =
          definitions.stream()
              .filter(found -> found.at("/metadata/name").equals(kind.get("name")))
              .findFirst()
              .orElseThrow();
      assertThat(kind.get("version")).isEqualTo(definition.at("/spec/versions/0/name"));
      assertThat(kind.get("description").asText()).isNotBlank();
      JsonNode schema = definition.at("/spec/versions/0/schema/openAPIV3Schema/properties");
      assertDescribes(kind.get("specDescriptors"), schema.at("/spec/properties"));
      assertDescribes(kind.get("statusDescriptors"), schema.at("/status/properties"));
    }
  }

  private static void assertDescribes(JsonNode descriptors, JsonNode fields) {
    assertThat(descriptors)
        .isNotEmpty()
        .hasSameSizeAs(fields)
        .allSatisfy(
            descriptor -> {
              assertThat(fields.has(descriptor.get("path").asText())).isTrue();
              assertThat(descriptor.get("displayName").asText()).matches("[A-Z].*");
              assertThat(descriptor.get("description").asText()).isNotBlank();
            });
  }

  @Test
  void deploymentRunsUnderTheAccountThatGetsThePermissions() {
    JsonNode strategy = csv.at("/spec/install/spec");
    String account = strategy.at("/deployments/0/spec/template/spec/serviceAccountName").asText();

    assertThat(strategy.at("/permissions/0/serviceAccountName").asText()).isEqualTo(account);
    assertThat(strategy.at("/clusterPermissions/0/serviceAccountName").asText()).isEqualTo(account);
    assertThat(strategy.at("/clusterPermissions/0/rules")).hasSizeGreaterThan(20);
  }

  @Test
  void examplesAreFaultlessResourcesOfOwnedKinds() throws JsonProcessingException {
    JsonNode examples =
        new ObjectMapper().readTree(csv.at("/metadata/annotations/alm-examples").asText());

    assertThat(examples)
        .hasSameSizeAs(csv.at("/spec/customresourcedefinitions/owned"))
        .allSatisfy(one -> assertThat(ResourceChecks.check(one)).isEmpty());
  }

  /** Without them hardened clusters refuse the driver's pods. */
  @Test
  void suggestedNamespaceHasTheLabelsForPrivilegedPods() throws JsonProcessingException {
    JsonNode suggested =
        new ObjectMapper()
            .readTree(
                csv.at("/metadata/annotations")
                    .get("operatorframework.io/suggested-namespace-template")
                    .asText());

    assertThat(suggested.get("kind").asText()).isEqualTo("Namespace");
    assertThat(suggested.at("/metadata/name").asText()).isEqualTo("pmem-csi");
    assertThat(suggested.at("/metadata/labels").get("pod-security.kubernetes.io/enforce").asText())
        .isEqualTo("privileged");
  }

  @Test
  void labelsOfTheImageAreTheAnnotations() {
    JsonNode annotations = content(BundleFiles.BUNDLE + "metadata/annotations.yaml");

    assertThat(text(BundleFiles.BUNDLE + "Containerfile"))
        .contains(
            annotations.get("annotations").properties().stream()
                .map(entry -> "LABEL %s=%s".formatted(entry.getKey(), entry.getValue().asText()))
                .collect(Collectors.toList()));
  }

  private JsonNode content(String path) {
    return YamlText.documents(text(path)).getFirst().content();
  }

  private String text(String path) {
    return files.stream().filter(file -> file.path().equals(path)).findFirst().orElseThrow().text();
  }
}
