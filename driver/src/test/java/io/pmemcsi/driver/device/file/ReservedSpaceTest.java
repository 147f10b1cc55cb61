package io.pmemcsi.driver.device.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.device.file.ReservedSpace.Sum;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReservedSpaceTest {

  private static final long MIB = 1 << 20;

  @TempDir Path directory;

  private final List<Path> files = new ArrayList<>();
  private int listed;
  private final ReservedSpace space =
      new ReservedSpace(
          () -> {
            listed++;
            return List.copyOf(files);
          });

  private Path file(String name, long size, int allocated) throws IOException {
    Path file = directory.resolve(name);
    try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
      sparse.setLength(size);
      sparse.write(new byte[allocated]);
      sparse.getFD().sync();
    }
    return file;
  }

  @Test
  void changesOfOneFileAreCountedWithoutExaminingTheOthers() throws IOException {
    files.add(file("a", 8 * MIB, (int) MIB));
    assertThat(space.sum()).isEqualTo(new Sum(8 * MIB, 7 * MIB));

    Path added = file("b", 4 * MIB, 0);
    space.changed(added);
    assertThat(space.sum()).isEqualTo(new Sum(12 * MIB, 11 * MIB));
    space.changed(file("b", 6 * MIB, 0));
    assertThat(space.sum()).isEqualTo(new Sum(14 * MIB, 13 * MIB));
    Files.delete(added);
    space.changed(added);

    assertThat(space.sum()).isEqualTo(new Sum(8 * MIB, 7 * MIB));
    assertThat(listed).isEqualTo(1);
  }

  @Test
  void writtenBytesCountAfterAllFilesAreExaminedAgain() throws IOException {
    files.add(file("a", 8 * MIB, 0));
    space.sum();
    file("a", 8 * MIB, (int) (2 * MIB));

    space.invalidate();

    assertThat(space.sum()).isEqualTo(new Sum(8 * MIB, 6 * MIB));
  }

  @Test
  void aFileThatWasDeletedSinceItWasListedReservesNothing() throws IOException {
    files.add(directory.resolve("deleted"));

    assertThat(space.sum()).isEqualTo(new Sum(0, 0));
  }
}
