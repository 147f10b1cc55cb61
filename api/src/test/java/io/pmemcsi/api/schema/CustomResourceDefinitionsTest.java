package io.pmemcsi.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CustomResourceDefinitionsTest {

  /** kubectl apply keeps the whole object in an annotation, which has this limit. */
  private static final int MAX_ANNOTATION = 262_144;

  private static final Path DIRECTORY = Path.of("..", "deploy", "crd");

  @ParameterizedTest
  @EnumSource(KindDetails.class)
  void theFileForEveryServerIsWhatTheTypesSay(KindDetails details) throws IOException {
    String expected = new CRDSource(details, false).text();

    assertThat(expected).doesNotContain("x-kubernetes-validations");
    assertUpToDate(DIRECTORY.resolve(CustomResourceDefinitions.fileName(details.kind())), expected);
  }

  @ParameterizedTest
  @EnumSource(KindDetails.class)
  void theFileForServersWithCelIsWhatTheTypesSay(KindDetails details) throws IOException {
    String expected = new CRDSource(details, true).text();

    assertThat(expected).contains("x-kubernetes-validations");
    assertUpToDate(
        DIRECTORY.resolve("with-cel").resolve(CustomResourceDefinitions.fileName(details.kind())),
        expected);
  }

  @ParameterizedTest
  @EnumSource(KindDetails.class)
  void theFileIsSmallEnoughForKubectlApply(KindDetails details) {
    assertThat(new CRDSource(details, true).text().length()).isLessThan(MAX_ANNOTATION / 2);
  }

  private static void assertUpToDate(Path file, String expected) throws IOException {
    if (Boolean.getBoolean("pmem-csi.generate")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, expected);
    }
    assertThat(file)
        .as("deploy/crd is stale: run 'make generate' and commit the result")
        .exists()
        .content(StandardCharsets.UTF_8)
        .isEqualTo(expected);
  }
}
