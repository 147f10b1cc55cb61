package io.pmemcsi.operator.tools.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pmemcsi.operator.kinds.template.ConfigReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keeps the generated files of deploy/ up to date. */
class InstallationFilesTest {

  /** Directories in which every file is generated. */
  private static final List<String> GENERATED =
      List.of(
          "bundle/",
          "helm/pmem-csi/crds/",
          "kubernetes-",
          "kustomize/",
          "operator/",
          "prerequisites/",
          "scheduler/");

  static List<GeneratedFile> files() {
    return Stream.of(OperatorFiles.all(), DriverFiles.all(), ChartFiles.all(), BundleFiles.all())
        .flatMap(List::stream)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("files")
  void fileIsUpToDate(GeneratedFile expected) throws IOException {
    Path file = GeneratedFile.DEPLOY.resolve(expected.path());
    if (Boolean.getBoolean("pmem-csi.generate")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, expected.text());
    }

    assertThat(file)
        .as("%s is stale: run 'make generate' and commit the result", file)
        .exists()
        .content(StandardCharsets.UTF_8)
        .isEqualTo(expected.text());
  }

  @Test
  void noFileOfAPreviousReleaseIsLeft() throws IOException {
    Set<String> expected = files().stream().map(GeneratedFile::path).collect(Collectors.toSet());
    try (Stream<Path> found = Files.walk(GeneratedFile.DEPLOY)) {
      assertThat(
              found
                  .filter(Files::isRegularFile)
                  .map(file -> GeneratedFile.DEPLOY.relativize(file).toString())
                  .filter(file -> GENERATED.stream().anyMatch(file::startsWith)))
          .as("no generator writes these files of deploy/ any more: delete them")
          .isSubsetOf(expected);
    }
  }

  @Test
  void theChartTakesTheKeysOfTheConfigurationFile() throws IOException {
    String schema =
        ChartFiles.all().stream()
            .filter(file -> file.path().endsWith("values.schema.json"))
            .map(GeneratedFile::text)
            .findFirst()
            .orElseThrow();
    JsonNode config = new ObjectMapper().readTree(schema).at("/properties/config");

    assertThatThrownBy(() -> ConfigReader.read("other: key"))
        .hasMessageEndingWith("choose from " + keys(config));
    assertThatThrownBy(() -> ConfigReader.read("defaultImages: {other: image}"))
        .hasMessageEndingWith("choose from " + keys(config.at("/properties/defaultImages")));
  }

  private static String keys(JsonNode schema) {
    return schema.path("properties").properties().stream()
        .map(Map.Entry::getKey)
        .collect(Collectors.joining(", "));
  }
}
