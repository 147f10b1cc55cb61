package io.pmemcsi.base.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BoundedTextTest {

  @Test
  void whatAFileSaysIsRead(@TempDir Path directory) throws IOException {
    Path file = Files.writeString(directory.resolve("a"), "größer\n");

    assertThat(BoundedText.read(file)).isEqualTo("größer\n");
  }

  @Test
  void theBiggestTextIsTaken() throws IOException {
    assertThat(BoundedText.read(new ByteArrayInputStream(new byte[BoundedText.MOST])))
        .hasSize(BoundedText.MOST);
  }

  @Test
  void aFileWithoutEndIsRefused() {
    assertThatIOException()
        .isThrownBy(() -> BoundedText.read(Path.of("/dev/zero")))
        .withMessage("it is larger than 16 MiB");
  }

  @Test
  void whatIsNoTextIsRefused() {
    assertThatThrownBy(() -> BoundedText.read(new ByteArrayInputStream(new byte[] {(byte) 0xff})))
        .isInstanceOf(CharacterCodingException.class);
  }
}
