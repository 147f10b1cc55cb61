package io.pmemcsi.driver.node.kata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ImageLayoutTest {

  @ParameterizedTest
  @CsvSource({
    "1024, 2048, 304454e32b23ea6c",
    "1, 2, 333854e3f30ebb6c",
    "2097152, 2097152, 303894e32b035b68"
  })
  void theChecksumIsTheOneThatTheKernelComputes(long dataOffset, int align, String checksum) {
    byte[] block = ImageLayout.pfnSuperblock(dataOffset, align);

    assertThat(HexFormat.of().formatHex(block, 4088, 4096)).isEqualTo(checksum);
  }

  @Test
  void theSuperblockFollowsThePartitionTable() {
    byte[] header = ImageLayout.header(512L << 20);
    ByteBuffer bytes = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);

    assertThat(header).hasSize(2 << 20);
    assertThat(new String(header, 4096, 16, StandardCharsets.US_ASCII))
        .isEqualTo("NVDIMM_PFN_INFO\0");
    assertThat(bytes.getShort(4096 + 52)).as("major").isZero();
    assertThat(bytes.getShort(4096 + 54)).as("minor").isEqualTo((short) 2);
    assertThat(bytes.getLong(4096 + 56)).as("dataoff").isEqualTo(2 << 20);
    assertThat(bytes.getLong(4096 + 64)).as("npfns").isZero();
    assertThat(bytes.getInt(4096 + 72)).as("mode").isEqualTo(1);
    assertThat(bytes.getInt(4096 + 84)).as("align").isEqualTo(2 << 20);
    assertThat(Arrays.copyOfRange(header, 8192, header.length)).containsOnly(0);
  }

  @Test
  void thePartitionReachesFromTheHeaderToTheEnd() {
    ByteBuffer mbr =
        ByteBuffer.wrap(ImageLayout.masterBootRecord(512L << 20)).order(ByteOrder.LITTLE_ENDIAN);

    assertThat(mbr.getShort(510)).isEqualTo((short) 0xaa55);
    assertThat(mbr.get(446 + 4)).isEqualTo((byte) 0x83);
    assertThat(mbr.getInt(446 + 8)).isEqualTo(4096);
    assertThat(mbr.getInt(446 + 12)).isEqualTo((510 << 20) / 512);
  }

  @Test
  void aFileMustBeLargerThanItsHeader() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> ImageLayout.header(2 << 20))
        .withMessage("invalid image file size 2097152, must be larger than HeaderSize=2097152");
  }
}
