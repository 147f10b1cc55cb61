package io.pmemcsi.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DemoDirectoryTest {

  @Test
  void directoryIsDeletedWithItsContent() throws Exception {
    Path path;
    try (DemoDirectory directory = DemoDirectory.create()) {
      path = directory.path();
      Files.writeString(Files.createDirectories(path.resolve("a/b")).resolve("c"), "text");
    }
    assertThat(path).doesNotExist();
  }

  @Test
  void directoryThatCannotBeDeletedIsReported() {
    // not even root can delete this one
    Path path = Path.of("/proc/self/net");

    assertThatThrownBy(() -> new DemoDirectory(path).close())
        .isInstanceOf(FatalException.class)
        .hasMessageStartingWith("the demo cannot delete its directory /proc/self/net: ")
        .hasMessageEndingWith("; delete it by hand")
        .hasMessageNotContaining("Exception");
  }
}
