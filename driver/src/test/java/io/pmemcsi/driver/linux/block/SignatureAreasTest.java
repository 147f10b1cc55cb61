package io.pmemcsi.driver.linux.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SignatureAreasTest {

  private static final long SIZE = 4L << 20;

  @TempDir Path directory;

  private Path device(long size, long written) throws IOException {
    Path file = directory.resolve("device");
    try (RandomAccessFile device = new RandomAccessFile(file.toFile(), "rw")) {
      device.setLength(size);
      if (written >= 0) {
        device.seek(written);
        device.write(1);
      }
    }
    return file;
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 512, 4096, SIZE})
  void aDeviceOfZerosIsBlankWhateverItsSize(long size) throws IOException {
    assertThat(SignatureAreas.areBlank(device(size, -1))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1080, 65_600, (1 << 20) - 1, SIZE - (1 << 20), SIZE - 4096, SIZE - 1})
  void oneByteWhereSignaturesAreIsSeen(long offset) throws IOException {
    assertThat(SignatureAreas.areBlank(device(SIZE, offset))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1080, (128 << 10) - 1})
  void oneByteAtTheBeginningIsSeen(long offset) throws IOException {
    assertThat(SignatureAreas.isBeginningBlank(device(SIZE, offset))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 512, 4096, SIZE})
  void theBeginningOfADeviceOfZerosIsBlankWhateverItsSize(long size) throws IOException {
    assertThat(SignatureAreas.isBeginningBlank(device(size, -1))).isTrue();
  }

  @Test
  void onlyTheBeginningIsReadForSuperblocks() throws IOException {
    assertThat(SignatureAreas.isBeginningBlank(device(SIZE, 128 << 10))).isTrue();
  }

  @Test
  void dataInTheMiddleIsNoSignature() throws IOException {
    assertThat(SignatureAreas.areBlank(device(SIZE, SIZE / 2))).isTrue();
  }
}
