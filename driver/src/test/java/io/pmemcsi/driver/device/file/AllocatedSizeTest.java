package io.pmemcsi.driver.device.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AllocatedSizeTest {

  @TempDir Path folder;

  @Test
  void onlyWrittenBlocksCount() throws IOException {
    Path file = folder.resolve("sparse");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(64 << 20);
      long before = AllocatedSize.of(file);
      sparse.write(new byte[1 << 20]);
      sparse.getFD().sync();

      assertThat(AllocatedSize.of(file) - before).isEqualTo(1 << 20);
    }
  }

  @Test
  void aFileThatIsGoneIsNamed() {
    assertThatThrownBy(() -> AllocatedSize.of(folder.resolve("gone")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("gone");
  }
}
