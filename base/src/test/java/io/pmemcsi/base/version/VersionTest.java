package io.pmemcsi.base.version;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VersionTest {

  @Test
  void versionIsThatOfTheBuild() {
    assertThat(Version.current()).matches("\\d+\\.\\d+\\.\\d+.*");
  }
}
