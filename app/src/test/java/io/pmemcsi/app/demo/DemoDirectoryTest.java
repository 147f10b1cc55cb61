package io.pmemcsi.app.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class DemoDirectoryTest {

  @Test
  void folderGoesWithEverythingInIt() throws Exception {
    Path path;
    try (DemoDirectory folder = DemoDirectory.create()) {
      path = folder.path();
      Files.writeString(Files.createDirectories(path.resolve("a/b")).resolve("c"), "text");
    }
    assertThat(path).doesNotExist();
  }

  @Test
  void folderThatStaysIsNamedInWords() {
    // the kernel lets nobody remove this one, not even root
    Path path = Path.of("/proc/self/net");

    assertThatThrownBy(() -> new DemoDirectory(path).close())
        .isInstanceOf(FatalException.class)
        .hasMessageStartingWith("the demo cannot remove its folder /proc/self/net: ")
        .hasMessageEndingWith("; remove it by hand")
        .hasMessageNotContaining("Exception");
  }
}
