package io.pmemcsi.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.yaml.YamlText;
import io.pmemcsi.testbed.kubernetes.Sandbox;
import io.pmemcsi.testbed.kubernetes.WithKubernetes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The kustomize bases with the kubectl of this machine; that of the test bed is too old for them.
 * The patches are those in the documentation of earlier releases.
 */
@WithKubernetes(controllers = false)
class KustomizeIT {

  private static final Path DEPLOY = Path.of("..", "deploy");

  @TempDir private Path directory;

  @BeforeAll
  static void kubectlIsNewEnough() throws Exception {
    boolean newEnough;
    try {
      JsonNode version =
          new ObjectMapper().readTree(kubectl("version", "--client", "--output=json"));
      newEnough = version.at("/clientVersion/minor").asText().matches("2[2-9].*|[3-9][0-9].*");
    } catch (IOException e) {
      newEnough = false;
    }
    assumeTrue(newEnough, "kubectl 1.22 or newer is needed in the PATH");
  }

  @BeforeEach
  void linkBases() throws IOException {
    Files.createSymbolicLink(directory.resolve("deploy"), DEPLOY.toRealPath());
  }

  @Test
  void namespaceCanBeChanged() throws Exception {
    String yaml =
        kustomize(
            """
            namespace: pmem-driver
            bases:
              - ../deploy/kubernetes-1.20/lvm
            """,
            "");

    assertThat(yaml.lines().filter(line -> line.matches(" *namespace: .*")))
        .hasSizeGreaterThan(10)
        .allMatch(line -> line.endsWith(" pmem-driver"));
    assertThat(objects(yaml))
        .filteredOn(object -> object.get("kind").asText().equals("Namespace"))
        .singleElement()
        .extracting(object -> object.at("/metadata/name").asText())
        .isEqualTo("pmem-driver");
  }

  /** The server accepts what comes out of the example in docs/install.md. */
  @Test
  void documentedExampleWorks(Sandbox sandbox) throws Exception {
    // with a namespace that exists
    String example = documented("install.md", "my-pmem-csi");
    String yaml = kustomize(example.replace("pmem-driver", sandbox.namespace()), "");

    assertThat(yaml).contains("- -pmemPercentage=90\n").doesNotContain("namespace: pmem-csi\n");
    KubernetesClient client = sandbox.client();
    assertThat(client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).items())
        .hasSizeGreaterThan(10)
        .filteredOn(object -> !(object instanceof Namespace))
        // the example is for a newer server
        .filteredOn(object -> client.supports(object.getClass()))
        .allSatisfy(object -> client.resource(object).dryRun().create());
  }

  private static String documented(String page, String directory) throws IOException {
    Matcher block =
        Pattern.compile("(?s)```yaml\n# " + directory + "/kustomization.yaml\n(.*?)```")
            .matcher(Files.readString(Path.of("..", "docs", page)));
    assertThat(block.find()).as("%s in %s", directory, page).isTrue();
    return block.group(1);
  }

  /** Under the name that earlier documentation has, and under its own. */
  @ParameterizedTest
  @CsvSource({"pmem-csi-node", "pmem-csi-intel-com-node"})
  void argumentsOfTheDriverCanBeAdded(String name) throws Exception {
    String yaml =
        kustomize(
            """
            bases:
              - ../deploy/kubernetes-1.34/lvm
            patchesJson6902:
              - target:
                  group: apps
                  version: v1
                  kind: DaemonSet
                  name: %s
                  namespace: pmem-csi
                path: patch.yaml
            """
                .formatted(name),
            """
            - op: add
              path: /spec/template/spec/containers/0/args/-
              value: "-pmemPercentage=90"
            """);

    assertThat(objects(yaml))
        .filteredOn(
            object ->
                object.get("kind").asText().equals("DaemonSet")
                    && object.at("/metadata/name").asText().equals("pmem-csi-intel-com-node"))
        .singleElement()
        .satisfies(
            object ->
                assertThat(object.at("/spec/template/spec/containers/0/args"))
                    .last()
                    .extracting(JsonNode::asText)
                    .isEqualTo("-pmemPercentage=90"));
  }

  @Test
  void theExampleInTheDocumentationWorks() throws Exception {
    assertThat(kustomize(documented("install.md", "my-pmem-csi"), ""))
        .contains("- -pmemPercentage=90\n")
        .contains("namespace: pmem-driver\n")
        .doesNotContain("namespace: pmem-csi\n");
  }

  @Test
  void nodePortCanBeSet() throws Exception {
    String yaml =
        kustomize(
            """
            bases:
              - ../deploy/kustomize/scheduler
            patchesJson6902:
              - target:
                  version: v1
                  kind: Service
                  name: pmem-csi-intel-com-scheduler
                  namespace: pmem-csi
                path: patch.yaml
            """,
            """
            - op: add
              path: /spec/ports/0/nodePort
              value: 32000
            - op: add
              path: /spec/type
              value: NodePort
            """);

    assertNodePort(yaml);
  }

  @Test
  void theDocumentedNodePortWorks() throws Exception {
    assertNodePort(kustomize(documented("scheduling.md", "my-scheduler"), ""));
  }

  private static void assertNodePort(String yaml) {
    assertThat(objects(yaml))
        .singleElement()
        .satisfies(
            service -> {
              assertThat(service.at("/spec/ports/0/nodePort").asInt()).isEqualTo(32000);
              assertThat(service.at("/spec/type").asText()).isEqualTo("NodePort");
            });
  }

  @Test
  void authorityOfTheWebhookCanBeSet() throws Exception {
    String yaml =
        kustomize(
            """
            bases:
              - ../deploy/kustomize/webhook
            patchesJson6902:
              - target:
                  group: admissionregistration.k8s.io
                  version: v1
                  kind: MutatingWebhookConfiguration
                  name: pmem-csi-intel-com-hook
                path: patch.yaml
            """,
            """
            - op: replace
              path: /webhooks/0/clientConfig/caBundle
              value: Y2VydGlmaWNhdGU=
            """);

    assertAuthority(yaml);
  }

  @Test
  void theDocumentedAuthorityOfTheWebhookWorks() throws Exception {
    String example = documented("scheduling.md", "my-webhook");
    assertAuthority(kustomize(example.replaceFirst("<ca.crt .*>", "Y2VydGlmaWNhdGU="), ""));
  }

  private static void assertAuthority(String yaml) {
    assertThat(objects(yaml))
        .singleElement()
        .extracting(hook -> hook.at("/webhooks/0/clientConfig/caBundle").asText())
        .isEqualTo("Y2VydGlmaWNhdGU=");
  }

  @ParameterizedTest
  @CsvSource({
    "1.20/lvm, lvm",
    "1.20/lvm/testing, lvm-testing",
    "1.27/direct, direct",
    "1.34/direct/testing, direct-testing",
    "1.34/file, file",
    "1.34/file/testing, file-testing"
  })
  void baseHasTheObjectsOfThePlainFile(String base, String file) throws Exception {
    String version = base.substring(0, base.indexOf('/'));

    assertThat(objects(kubectl("kustomize", DEPLOY.resolve("kubernetes-" + base).toString())))
        .containsExactlyInAnyOrderElementsOf(
            objects(
                Files.readString(
                    DEPLOY.resolve("kubernetes-%s/pmem-csi-%s.yaml".formatted(version, file)))));
  }

  private String kustomize(String kustomization, String patch) throws Exception {
    Path mine = Files.createDirectory(directory.resolve("mine"));
    Files.writeString(mine.resolve("kustomization.yaml"), kustomization);
    Files.writeString(mine.resolve("patch.yaml"), patch);
    return kubectl("kustomize", mine.toString());
  }

  private static List<JsonNode> objects(String yaml) {
    return YamlText.documents(yaml).stream().map(YamlText.Document::content).toList();
  }

  private static String kubectl(String... arguments) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("kubectl"));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("exit code of %s", command).isZero();
    return output;
  }
}
