package io.pmemcsi.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.kinds.ResourceChecks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SamplesTest {

  @ParameterizedTest
  @MethodSource("samples")
  void aSampleThatWeShipIsFaultless(Path file) throws IOException {
    JsonNode resource =
        new KubernetesSerialization().unmarshal(Files.readString(file), JsonNode.class);

    assertThat(ResourceChecks.check(resource)).isEmpty();
  }

  static List<Path> samples() throws IOException {
    Path directory = Path.of("..", "deploy", "samples");
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(file -> file.toString().endsWith(".yaml"))
          // built-in objects, not custom resources
          .filter(file -> !file.toString().contains("/accounts/"))
          .sorted()
          .toList();
    }
  }
}
