package io.pmemcsi.operator.tools.install;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.operator.facts.KubernetesVersion;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DriverFilesTest {

  static Stream<String> laterVersions() {
    return IntStream.rangeClosed(
            KubernetesVersion.OLDEST.minor() + 1, KubernetesVersion.NEWEST_KNOWN.minor())
        .mapToObj(minor -> "1." + minor);
  }

  /** A missing directory would give its users the objects for an older version. */
  @ParameterizedTest
  @MethodSource("laterVersions")
  void aVersionHasItsOwnDirectoryIfItsObjectsDifferFromThoseOfTheVersionBefore(String version) {
    String before = "1." + (KubernetesVersion.parse(version).minor() - 1);

    assertThat(DriverFiles.VERSIONS.contains(version))
        .as("deploy/kubernetes-%s exists: compare DriverFiles.VERSIONS", version)
        .isEqualTo(!texts(version).equals(texts(before)));
  }

  private static List<String> texts(String version) {
    return DriverFiles.MODES.stream()
        .map(mode -> GeneratedFile.of(mode, DriverFiles.objects(version, mode, true)).text())
        .toList();
  }
}
