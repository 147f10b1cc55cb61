package io.pmemcsi.driver.linux.libc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileSpaceTest {

  @TempDir Path directory;

  @Test
  void onlyWrittenBlocksCount() throws IOException {
    Path file = directory.resolve("sparse");
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(64 << 20);
      long before = FileSpace.allocatedBytes(file);
      sparse.write(new byte[1 << 20]);
      sparse.getFD().sync();

      assertThat(FileSpace.allocatedBytes(file) - before).isEqualTo(1 << 20);
    }
  }

  @Test
  void aFilesystemIsMeasuredAsJavaMeasuresIt() throws IOException {
    FileSpace.Filesystem measured = FileSpace.of(directory);

    assertThat(measured.totalBytes()).isEqualTo(Files.getFileStore(directory).getTotalSpace());
    assertThat(measured.freeInodes()).isBetween(1L, measured.inodes());
    assertThat(measured.availableBytes()).isBetween(1L, measured.freeBytes());
  }

  @Test
  void aMissingFileIsNamed() {
    assertThatThrownBy(() -> FileSpace.allocatedBytes(directory.resolve("missing")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("missing: No such file or directory (error number 2)");
  }
}
