package io.pmemcsi.driver.device.ndctl;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NamespaceModeTest {
  private static final long UNIT = 16L << 20;

  @ParameterizedTest(name = "{0} of {1} bytes")
  @CsvSource({
    "FSDAX, 16777216, 14680064",
    "FSDAX, 33554432, 31457280",
    "FSDAX, 134217728, 130023424",
    "FSDAX, 268435456, 262144000",
    "FSDAX, 536870912, 526385152",
    "FSDAX, 1073741824, 1054867456",
    "SECTOR, 16777216, 0",
    "SECTOR, 33554432, 32440320",
    "SECTOR, 134217728, 133005312",
    "FSDAX, 0, 0",
    "SECTOR, 0, 0",
  })
  void usableSizeIsWhatTheKernelGave(NamespaceMode mode, long raw, long usable) {
    assertThat(mode.usableBytes(raw)).isEqualTo(usable);
  }

  @ParameterizedTest(name = "{0} for {1} bytes")
  @CsvSource({
    "FSDAX, 0, 16777216",
    "FSDAX, 1, 16777216",
    "FSDAX, 14680064, 16777216",
    "FSDAX, 14680065, 33554432",
    "FSDAX, 1054867456, 1073741824",
    "FSDAX, 1054867457, 1090519040",
    "SECTOR, 0, 33554432",
    "SECTOR, 133005312, 134217728",
    "SECTOR, 133005313, 150994944",
  })
  void rawSizeIsTheSmallestThatIsEnough(NamespaceMode mode, long usable, long raw) {
    assertThat(mode.rawBytes(usable, UNIT)).isEqualTo(raw);
  }

  @ParameterizedTest
  @CsvSource({"FSDAX", "SECTOR"})
  void aVolumeOfTheLargestUsableSizeFitsExactly(NamespaceMode mode) {
    for (long raw = 2 * UNIT; raw < (3L << 40); raw = (raw * 3 / 2 / UNIT + 1) * UNIT) {
      assertThat(mode.rawBytes(mode.usableBytes(raw), UNIT)).isLessThanOrEqualTo(raw);
      assertThat(mode.usableBytes(mode.rawBytes(raw, UNIT))).isGreaterThanOrEqualTo(raw);
    }
  }
}
