package io.pmemcsi.pods;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/** What {@code make release-files} collects: everything, of one version, with checksums. */
@TestInstance(Lifecycle.PER_CLASS)
class ReleaseFilesIT {

  private static final Path RELEASE = Installation.ROOT.resolve("target/release");

  private static final String VERSION =
      find(Installation.read(Installation.ROOT.resolve("pom.xml")), "<revision>(.*)</revision>");

  private static final String IMAGE = "pmem-csi-driver:" + VERSION;

  private final Path unpacked;

  ReleaseFilesIT(@TempDir Path unpacked) {
    this.unpacked = unpacked;
  }

  @BeforeAll
  void collect() throws Exception {
    run(Installation.ROOT, "build/release-files");
    for (String archive :
        List.of("-cli-%s.tar.gz", "-deploy-%s.tar.gz", "-bundle-%s.tar.gz", "-%s.tgz")) {
      String name = "pmem-csi" + archive.formatted(VERSION);
      run(RELEASE, "tar", "-xf", name, "-C", unpacked.toString());
    }
  }

  @Test
  void everyFileHasItsChecksum() throws Exception {
    assertThat(filesBelow(RELEASE))
        .containsExactlyInAnyOrder(
            "SHA256SUMS",
            "pmem-csi-driver-%s.tar.gz".formatted(VERSION),
            "pmem-csi-%s.cdx.json".formatted(VERSION),
            "pmem-csi-cli-%s.tar.gz".formatted(VERSION),
            "pmem-csi-deploy-%s.tar.gz".formatted(VERSION),
            "pmem-csi-bundle-%s.tar.gz".formatted(VERSION),
            "pmem-csi-%s.tgz".formatted(VERSION));
    assertThat(run(RELEASE, "sha256sum", "--check", "--strict", "SHA256SUMS").lines())
        .hasSize(6)
        .allMatch(line -> line.endsWith(": OK"));
  }

  /** kubectl finds it by its name on the PATH. */
  @Test
  void theKubectlPluginRunsOutsideOfASourceTree() throws Exception {
    assertThat(run(unpacked, "pmem-csi-cli/bin/kubectl-pmem_csi", "version")).contains(VERSION);
    assertThat(run(unpacked, "pmem-csi-cli/bin/kubectl-pmem_csi", "status", "--help"))
        .contains("pmem-csi status [DRIVER]");
  }

  @Test
  void theImageHasTheVersionAsItsTag() throws Exception {
    String archive = "pmem-csi-driver-%s.tar.gz".formatted(VERSION);

    JsonNode images =
        new ObjectMapper().readTree(run(RELEASE, "tar", "-xOf", archive, "manifest.json"));

    assertThat(images.at("/0/RepoTags")).extracting(JsonNode::asText).contains(IMAGE);
  }

  @Test
  void theSbomIsThatOfTheImage() throws Exception {
    JsonNode sbom =
        new ObjectMapper()
            .readTree(RELEASE.resolve("pmem-csi-%s.cdx.json".formatted(VERSION)).toFile());

    assertThat(sbom.at("/metadata/component/version").asText()).isEqualTo(VERSION);
    assertThat(sbom.get("components"))
        .extracting(component -> component.path("purl").asText())
        .anyMatch(purl -> purl.startsWith("pkg:deb/debian/lvm2@"));
  }

  @Test
  void archivesHaveTheFilesOfTheSourceTree() throws Exception {
    Path deploy = Installation.ROOT.resolve("deploy");

    assertThat(filesBelow(unpacked.resolve("bundle")))
        .containsExactlyInAnyOrderElementsOf(filesBelow(deploy.resolve("bundle")));
    assertThat(filesBelow(unpacked.resolve("pmem-csi")))
        .containsExactlyInAnyOrderElementsOf(filesBelow(deploy.resolve("helm/pmem-csi")));
    assertThat(filesBelow(unpacked.resolve("deploy")))
        .containsExactlyInAnyOrderElementsOf(
            filesBelow(deploy).stream()
                .filter(file -> !file.matches("(bundle|helm|image)/.*"))
                .toList());
  }

  @Test
  void everyYamlFileNamesTheImageOfTheVersion() throws Exception {
    List<String> images =
        filesBelow(unpacked).stream()
            .filter(file -> !file.startsWith("pmem-csi-cli/"))
            .map(file -> Installation.read(unpacked.resolve(file)))
            .flatMap(text -> Pattern.compile("pmem-csi-driver:[\\w.-]+").matcher(text).results())
            .map(MatchResult::group)
            .toList();

    assertThat(images).hasSizeGreaterThan(50).containsOnly(IMAGE);
  }

  @Test
  void chartAndBundleAreOfTheVersion() {
    JsonNode chart = yaml("pmem-csi/Chart.yaml");
    JsonNode csv = yaml("bundle/manifests/pmem-csi-operator.clusterserviceversion.yaml");

    assertThat(chart.get("version").asText()).isEqualTo(VERSION);
    assertThat(chart.get("appVersion").asText()).isEqualTo(VERSION);
    assertThat(csv.at("/metadata/name").asText())
        .isEqualToIgnoringCase("pmem-csi-operator.v" + VERSION);
    assertThat(csv.at("/spec/version").asText()).isEqualTo(VERSION);
    assertThat(csv.at("/metadata/annotations/containerImage").asText()).isEqualTo(IMAGE);
    assertThat(
            csv.at("/spec/install/spec/deployments/0/spec/template/spec/containers/0/image")
                .asText())
        .isEqualTo(IMAGE);
  }

  private JsonNode yaml(String file) {
    return Serialization.unmarshal(Installation.read(unpacked.resolve(file)), JsonNode.class);
  }

  private static List<String> filesBelow(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> directory.relativize(file).toString())
          .toList();
    }
  }

  private static String find(String text, String pattern) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .findFirst()
        .orElseThrow();
  }

  private static String run(Path directory, String... command)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as("exit code of %s", command[0]).isZero();
    return output;
  }
}
