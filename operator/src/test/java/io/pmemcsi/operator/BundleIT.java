package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.operator.yaml.YamlText;
import io.pmemcsi.testbed.kubernetes.Kubectl;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every object that the Operator Lifecycle Manager creates from the bundle, on the real server. The
 * manager itself does not run here.
 */
@WithKubernetes(controllers = false)
class BundleIT {

  private static final Path MANIFESTS = Path.of("../deploy/bundle/manifests");

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path work;

  private final JsonNode csv =
      read(MANIFESTS.resolve("pmem-csi-operator.clusterserviceversion.yaml"));

  @Test
  void manifestsAreAccepted(Sandbox sandbox) throws IOException {
    try (Stream<Path> files = Files.list(MANIFESTS)) {
      assertThat(files.filter(file -> !file.toString().contains("clusterserviceversion")))
          .hasSizeGreaterThan(3)
          .allSatisfy(file -> assertAccepted(sandbox, read(file)));
    }
  }

  /** A namespace of the user's choice, not the one of our YAML files. */
  @Test
  void permissionsAndDeploymentAreAccepted(Sandbox sandbox) {
    JsonNode strategy = csv.at("/spec/install/spec");

    assertThat(strategy.get("permissions"))
        .isNotEmpty()
        .allSatisfy(one -> assertAccepted(sandbox, role("Role", one)));
    assertThat(strategy.get("clusterPermissions"))
        .isNotEmpty()
        .allSatisfy(one -> assertAccepted(sandbox, role("ClusterRole", one)));
    assertThat(strategy.get("deployments"))
        .isNotEmpty()
        .allSatisfy(one -> assertAccepted(sandbox, deployment(one)));
  }

  @Test
  void examplesAreAccepted(Sandbox sandbox) throws IOException {
    InstalledOperator.installCrds(sandbox.client());
    JsonNode examples = JSON.readTree(csv.at("/metadata/annotations/alm-examples").asText());

    assertThat(examples)
        .hasSameSizeAs(csv.at("/spec/customresourcedefinitions/owned"))
        .allSatisfy(example -> assertAccepted(sandbox, example));
  }

  private static ObjectNode role(String kind, JsonNode permissions) {
    ObjectNode role = object("rbac.authorization.k8s.io/v1", kind, "bundle-test");
    role.set("rules", permissions.get("rules"));
    return role;
  }

  private static ObjectNode deployment(JsonNode deployed) {
    ObjectNode deployment = object("apps/v1", "Deployment", deployed.get("name").asText());
    deployment.set("spec", deployed.get("spec"));
    return deployment;
  }

  private static ObjectNode object(String apiVersion, String kind, String name) {
    ObjectNode object = JSON.createObjectNode().put("apiVersion", apiVersion).put("kind", kind);
    object.putObject("metadata").put("name", name);
    return object;
  }

  /** kubectl also refuses fields that the server does not know. */
  private void assertAccepted(Sandbox sandbox, JsonNode object) throws IOException {
    Path file = Files.writeString(work.resolve("object.json"), object.toString());
    String output =
        new Kubectl(sandbox.cluster(), work, work.resolve("cache"))
            .run(
                "--namespace=" + sandbox.namespace(),
                "apply",
                "--dry-run=server",
                "-f",
                file.toString());
    assertThat(output).endsWith("(server dry run)\n");
  }

  private static JsonNode read(Path file) {
    try {
      List<YamlText.Document> documents = YamlText.documents(Files.readString(file));
      assertThat(documents).as("%s", file).hasSize(1);
      return documents.getFirst().content();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    }
  }
}
