package io.pmemcsi.app.render;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import org.junit.jupiter.api.Test;

class ResourceFileTest {

  @Test
  void missingPermissionsAreDistinguishedFromIoErrors() {
    // root may read everything, so that no real file shows the first one everywhere
    assertThat(ResourceFile.reason(new AccessDeniedException("/p")))
        .startsWith("permission denied; run as a user who may read it");
    assertThat(ResourceFile.reason(new IOException("Input/output error")))
        .contains("Input/output error; name another file");
  }
}
