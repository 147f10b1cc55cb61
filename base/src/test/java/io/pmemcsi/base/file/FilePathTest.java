package io.pmemcsi.base.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class FilePathTest {

  @Test
  void aNameIsAPath() {
    assertThat(FilePath.parse("/a/b")).isEqualTo(Path.of("/a/b"));
  }

  /** No locale has this one, so that the test need not start a process in another locale. */
  @Test
  void aCharacterThatNoPathCanHaveIsExplained() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> FilePath.parse("/tmp/\0"))
        .withMessageStartingWith("it has a character that no path can have in this locale: set");
  }
}
