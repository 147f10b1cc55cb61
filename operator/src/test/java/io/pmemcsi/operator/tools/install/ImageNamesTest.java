package io.pmemcsi.operator.tools.install;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Images of others have full names: podman and buildah search no registry by default, and CRI-O may
 * refuse short names.
 */
class ImageNamesTest {

  private static final Pattern IN_YAML = Pattern.compile("(?m)^ *-? *image: (\\S+)$");
  private static final Pattern IN_CONTAINERFILE = Pattern.compile("(?m)^ARG \\w+_IMAGE=(\\S+)$");

  /** Of a host: it has a dot. */
  private static final String FULL = "[^/]+\\.[^/]+/.+";

  @Test
  void imagesInYamlFilesHaveFullNames() throws IOException {
    var images = new ArrayList<String>();
    for (Path file : files(".yaml")) {
      images.addAll(find(IN_YAML, file));
    }

    assertThat(images)
        .hasSizeGreaterThan(100)
        .filteredOn(image -> !image.startsWith("pmem-csi-driver:"))
        .allSatisfy(image -> assertThat(image).matches(FULL));
  }

  @Test
  void imagesOnWhichOursIsBuiltHaveFullNames() throws IOException {
    assertThat(find(IN_CONTAINERFILE, GeneratedFile.DEPLOY.resolve("image/Containerfile")))
        .hasSize(2)
        .allSatisfy(image -> assertThat(image).matches(FULL));
  }

  private static List<String> find(Pattern pattern, Path file) throws IOException {
    return pattern.matcher(Files.readString(file)).results().map(hit -> hit.group(1)).toList();
  }

  /** Without the chart, whose images are expressions. */
  private static List<Path> files(String ending) throws IOException {
    try (Stream<Path> found = Files.walk(GeneratedFile.DEPLOY)) {
      return found
          .filter(file -> file.toString().endsWith(ending))
          .filter(file -> !file.startsWith(GeneratedFile.DEPLOY.resolve("helm")))
          .toList();
    }
  }
}
