package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RenderCommandTest {

  private static final String MINIMAL =
      """
      apiVersion: pmem-csi.intel.com/v1beta1
      kind: PmemCSIDeployment
      metadata:
        name: %s
      spec:
        deviceMode: lvm
      """;

  @TempDir private Path directory;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private String input = "";

  @Test
  void aResourceBecomesItsObjects() throws Exception {
    assertThat(render(MINIMAL.formatted("pmem-csi.intel.com"))).isZero();

    assertThat(out())
        .startsWith("---\n")
        .contains("kind: CSIDriver", "kind: DaemonSet", "name: pmem-csi-intel-com-node");
    assertThat(err()).isEmpty();
  }

  @Test
  void standardInputIsReadForADash() {
    input = MINIMAL.formatted("from-input.example.org");

    assertThat(run("render", "-f", "-")).isZero();

    assertThat(out()).contains("name: from-input-example-org-node");
  }

  @Test
  void theNameOfTheFileMayFollowTheFlagAtOnce() throws Exception {
    Path file = directory.resolve("at-once.yaml");
    Files.writeString(file, MINIMAL.formatted("at-once.example.org"));

    assertThat(run("render", "-f" + file)).isZero();

    assertThat(out()).contains("name: at-once-example-org-node");
  }

  @Test
  void everyDocumentOfAFileIsRendered() throws Exception {
    String both =
        "---\n" + MINIMAL.formatted("a.example.org") + "---\n" + MINIMAL.formatted("b.example.org");

    assertThat(render(both)).isZero();

    assertThat(out()).contains("name: a-example-org-node", "name: b-example-org-node");
  }

  @Test
  void everyFileIsRenderedInTheOrderOfTheCommandLine() throws Exception {
    Path second =
        Files.writeString(directory.resolve("a.yaml"), MINIMAL.formatted("a.example.org"));
    Path first = Files.writeString(directory.resolve("b.yaml"), MINIMAL.formatted("b.example.org"));
    input = MINIMAL.formatted("from-input.example.org");

    assertThat(run("render", "-f", first.toString(), "-f", "-", "--filename=" + second)).isZero();

    assertThat(out())
        .containsSubsequence(
            "name: b-example-org-node", "name: from-input-example-org-node", "name: a-example-org");
  }

  @Test
  void oneWrongFileOfSeveralIsNamedAndNothingIsPrinted() throws Exception {
    Path good = Files.writeString(directory.resolve("a.yaml"), MINIMAL.formatted("a.example.org"));
    Path wrong = Files.writeString(directory.resolve("pod.yaml"), "apiVersion: v1\nkind: Pod\n");

    assertThat(run("render", "-f", good.toString(), "-f", wrong.toString())).isEqualTo(1);
    assertThat(err()).startsWith("pmem-csi: %s, document 1: v1 Pod is not".formatted(wrong));
    assertThat(out()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Bad Name", "", "UPPER", "a.b", "end-"})
  void aNamespaceThatCannotBeIsRefused(String name) {
    assertThat(run("render", "-f", "-", "-n", name)).isEqualTo(2);
    assertThat(err())
        .startsWith("pmem-csi: --namespace=%s: not the name of a namespace".formatted(name))
        .hasLineCount(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "two words"})
  void anImageThatCannotBeIsRefused(String name) {
    assertThat(run("render", "-f", "-", "--image", name)).isEqualTo(2);
    assertThat(err())
        .startsWith("pmem-csi: --image=%s: not an image name".formatted(name))
        .hasLineCount(1);
  }

  @Test
  void objectsFollowTheVersionOfTheServer() throws Exception {
    Path file = Files.writeString(directory.resolve("r.yaml"), MINIMAL.formatted("a.example.org"));

    assertThat(run("render", "-f", file.toString(), "--kubernetes-version", "1.20")).isZero();
    assertThat(out()).doesNotContain("storageCapacity");
    out.reset();
    assertThat(run("render", "-f", file.toString(), "-kubernetes-version=1.30")).isZero();
    assertThat(out()).contains("storageCapacity: true");
  }

  @Test
  void namespaceAndImageAreThoseAskedFor() {
    input = MINIMAL.formatted("a.example.org");

    assertThat(run("render", "-f", "-", "-n", "storage", "-image=registry.local/driver:7"))
        .isZero();

    assertThat(out()).contains("namespace: storage", "image: registry.local/driver:7");
  }

  @Test
  void aMissingFileIsNamed() {
    assertThat(run("render", "-f", "/no/such/file.yaml")).isEqualTo(2);
    assertThat(err())
        .isEqualTo("pmem-csi: /no/such/file.yaml does not exist: name a file with a resource\n");
  }

  @Test
  void filesOfADirectoryAreRenderedInTheOrderOfTheirNames() throws Exception {
    for (String name : List.of("20.yml", "10.yaml", "30.json", "5.yaml")) {
      Files.writeString(directory.resolve(name), MINIMAL.formatted("n" + name));
    }
    Files.writeString(directory.resolve("notes.txt"), "no resource");
    Files.writeString(directory.resolve("yaml"), "no resource");
    Path inside = Files.createDirectories(directory.resolve("inside.yaml"));
    Files.writeString(inside.resolve("a.yaml"), MINIMAL.formatted("inside.example.org"));

    assertThat(run("render", "-f", directory.toString())).as(err()).isZero();

    // the DaemonSet and the NetworkPolicy of each
    assertThat(out().lines().filter(line -> line.matches("  name: n\\d+-.*-node")).distinct())
        .containsExactly(
            "  name: n10-yaml-node",
            "  name: n20-yml-node",
            "  name: n30-json-node",
            "  name: n5-yaml-node");
    assertThat(out()).doesNotContain("inside");
  }

  @Test
  void aWrongFileOfADirectoryIsNamedAndNothingIsPrinted() throws Exception {
    Files.writeString(directory.resolve("a.yaml"), MINIMAL.formatted("a.example.org"));
    Path wrong = Files.writeString(directory.resolve("pod.yaml"), "apiVersion: v1\nkind: Pod\n");

    assertThat(run("render", "-f", directory.toString())).isEqualTo(1);
    assertThat(err()).startsWith("pmem-csi: %s, document 1: v1 Pod is not".formatted(wrong));
    assertThat(out()).isEmpty();
  }

  @Test
  void aDirectoryWithoutResourcesIsRefused() throws Exception {
    Files.writeString(directory.resolve("notes.txt"), "no resource");
    Files.createDirectories(directory.resolve("inside.yaml"));

    assertThat(run("render", "-f", directory.toString())).isEqualTo(2);
    assertThat(err())
        .startsWith(
            "pmem-csi: %s has no file that ends in .json, .yaml or .yml: ".formatted(directory))
        .hasLineCount(1);
    assertThat(out()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | FILE is empty: it should have apiVersion, kind, metadata and spec",
        "`# nothing\\n---\\n` | FILE is empty: it should have apiVersion, kind, metadata and spec",
        "`a: [1\\nb: 2` | FILE: line 2 is no YAML: ",
        "`a: 1\\n\\tb: 2` | FILE: line 2 is no YAML: ",
        "`a: !!int foo` | FILE: document 1 has a value that does not fit its tag: correct",
        "`a: !!binary \"%\"` | FILE: document 1 has a value that does not fit its tag: correct",
        "`just text` | FILE, document 1 is no resource: it should have apiVersion, kind",
        "`- a\\n- b` | FILE, document 1 is no resource: it should have apiVersion, kind",
        "`kind: Pod` | FILE, document 1 is no resource: it has no apiVersion",
        "`apiVersion: v1` | FILE, document 1 is no resource: it has no kind",
        "`apiVersion: v1\\n"
            + "kind: Pod\\n"
            + "metadata: {name: a}` | FILE, document 1: v1 Pod is not a kind",
        "`apiVersion: x.y/v1\\n"
            + "kind: Foo\\n"
            + "metadata: {name: a}` | FILE, document 1: x.y/v1 Foo is not a kind",
      })
  void aFileThatMakesNoSenseIsNamedWithThePlace(String content, String message) throws Exception {
    assertThat(render(content.replace("\\n", "\n").replace("\\t", "\t"))).isEqualTo(1);
    assertThat(err().replace(directory.resolve("resource.yaml").toString(), "FILE"))
        .startsWith("pmem-csi: " + message);
    assertThat(err().lines()).hasSize(1);
    assertThat(out()).isEmpty();
  }

  @Test
  void aFileThatIsNestedTooDeeplyIsNamed() throws Exception {
    assertThat(render("[".repeat(20_000))).isEqualTo(1);
    assertThat(err()).startsWith("pmem-csi: " + directory).hasLineCount(1);
    assertThat(out()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{a: &a {b: *a}} | cannot be read: it is nested too deeply, refers to itself, or has a"
            + " number without end",
        "{a: {? : b}} | cannot be read: it has what JSON cannot hold, such as a field without a"
            + " name",
      })
  void whatOnlyYamlCanSayIsRefusedInOneShortLine(String spec, String message) throws Exception {
    assertThat(render("apiVersion: v1\nkind: Pod\nspec: " + spec)).isEqualTo(1);
    assertThat(err())
        .isEqualTo(
            "pmem-csi: %s: document 1 %s\n".formatted(directory.resolve("resource.yaml"), message));
  }

  @Test
  void aTopologyOfTheWrongTypeIsNamedInWords() throws Exception {
    String content =
        """
        apiVersion: csidriver.storage.openshift.io/v1alpha1
        kind: CSIDriverDeployment
        metadata: {name: a}
        spec:
          driverName: a
          driverSocket: /a/b
          storageClassTemplates:
          - metadata: {name: x}
            allowedTopologies: [{matchLabelExpressions: 3}]
          driverPerNodeTemplate:
            spec: {containers: [{name: x, securityContext: {privileged: true}}]}
        """;

    assertThat(render(content)).isEqualTo(1);
    assertThat(err())
        .endsWith(
            ", document 1:"
                + " spec.storageClassTemplates[0].allowedTopologies[0].matchLabelExpressions:"
                + " \"3\": must be a list\n");
  }

  @Test
  void anUnknownFieldOfAPodTemplateIsNamed() throws Exception {
    String content =
        """
        apiVersion: csidriver.storage.openshift.io/v1alpha1
        kind: CSIDriverDeployment
        metadata: {name: a}
        spec:
          driverName: a
          driverSocket: /a/b
          driverPerNodeTemplate:
            spec: {containers: [{name: x, imagePolicy: Always, securityContext: {privileged: true}}]}
          driverControllerTemplate:
            metadata: {label: {a: b}}
            spec: {containers: [{name: x, resources: {limits: {cpu: 1, example.com/any: 2}}}]}
        """;

    assertThat(render(content)).isEqualTo(1);
    assertThat(err())
        .contains("spec.driverPerNodeTemplate.spec.containers[0].imagePolicy: is not a field")
        .contains("spec.driverControllerTemplate.metadata.label: is not a field")
        .doesNotContain("limits");
  }

  @Test
  void anUnknownFieldOfComputeResourcesIsNamed() throws Exception {
    String content =
        """
        apiVersion: pmem-csi.intel.com/v1beta1
        kind: PmemCSIDeployment
        metadata: {name: a}
        spec:
          nodeResources: {request: {memory: 100Mi}}
          sidecars: {resizer: {resources: {limits: {cpu: 1, example.com/any: 2}, limit: {cpu: 1}}}}
        """;

    assertThat(render(content)).isEqualTo(1);
    assertThat(err())
        .contains("spec.nodeResources.request: is not a field")
        .contains("spec.sidecars.resizer.resources.limit: is not a field")
        .doesNotContain("limits");
  }

  @Test
  void theDirectoryOfOurSamplesIsRendered() {
    assertThat(run("render", "-f", "../deploy/samples")).as(err()).isZero();
    assertThat(out()).contains("name: pmem-csi.intel.com", "name: hostpath", "name: aws-ebs");
  }

  @Test
  void oneWrongDocumentPrintsNothingAtAll() throws Exception {
    String content = MINIMAL.formatted("a.example.org") + "---\napiVersion: v1\nkind: Pod\n";

    assertThat(render(content)).isEqualTo(1);
    assertThat(out()).isEmpty();
    assertThat(err()).contains("document 2");
  }

  @Test
  void aNameThatNoDriverCanHaveIsRefused() throws Exception {
    assertThat(render(MINIMAL.formatted("Not_A_Name"))).isEqualTo(1);
    assertThat(err()).contains("Not_A_Name").hasLineCount(1);
  }

  @ParameterizedTest
  @CsvSource({"new", "1", "0.9", "1.19", "1.30garbage", "1.30.bogus", "1.30.", "1.99999999999"})
  void wrongVersionsAreRefused(String version) {
    assertThat(run("render", "-f", "-", "--kubernetes-version", version)).isEqualTo(2);
    assertThat(err())
        .startsWith("pmem-csi: --kubernetes-version=" + version + ": ")
        .doesNotContain("input string")
        .hasLineCount(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.30", "v1.30.2", "1.30+", "1.30-gke.7"})
  void versionsAreTakenAsServersWriteThem(String version) {
    input = MINIMAL.formatted("a.example.org");

    assertThat(run("render", "-f", "-", "--kubernetes-version", version)).as(err()).isZero();
  }

  private int render(String content) throws IOException {
    Path file = Files.writeString(directory.resolve("resource.yaml"), content);
    return run("render", "-f", file.toString());
  }

  private int run(String... arguments) {
    return Program.run(
        List.of(arguments),
        new CliEnvironment(
            Map.of(),
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8)));
  }

  /** Without quotation marks, which the YAML writer may use or not. */
  private String out() {
    return out.toString(StandardCharsets.UTF_8).replace("\"", "");
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
