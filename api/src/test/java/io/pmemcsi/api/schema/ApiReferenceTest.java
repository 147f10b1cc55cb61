package io.pmemcsi.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ApiReferenceTest {

  private static final Path FILE = Path.of("..", "docs", "api.md");

  @Test
  void theReferenceIsWhatTheTypesSay() throws IOException {
    String expected = ApiReference.text();
    if (Boolean.getBoolean("pmem-csi.generate")) {
      Files.createDirectories(FILE.getParent());
      Files.writeString(FILE, expected);
    }

    assertThat(FILE)
        .as("docs/api.md is stale: run 'make generate' and commit the result")
        .exists()
        .content(StandardCharsets.UTF_8)
        .isEqualTo(expected);
  }
}
