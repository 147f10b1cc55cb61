package io.pmemcsi.controller.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.controller.volume.NeededVolume;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FreeCapacityTest {

  private static final long MIB = 1 << 20;
  private static final long GIB = 1 << 30;

  @Test
  void theDocumentedTextSaysWhatThereIsAndWhatIsNeeded() {
    assertThat(new FreeCapacity(63484 * MIB, 63484 * MIB).refusal(volumes(400 * GIB)))
        .contains("only 63484MiB of PMEM available, need 400GiB");
  }

  @Test
  void volumesFitWhenEachFitsAndTheSumDoes() {
    FreeCapacity twoRegions = new FreeCapacity(200, 100);

    assertThat(twoRegions.refusal(volumes(100, 100))).isEmpty();
    assertThat(twoRegions.refusal(volumes(100, 101)))
        .contains("only 200B of PMEM available, need 201B");
    assertThat(twoRegions.refusal(volumes(101)))
        .contains("only 100B of PMEM available in one piece, need 101B");
    assertThat(twoRegions.refusal(volumes())).isEmpty();
  }

  @Test
  void reservationsReduceFreeCapacity() {
    assertThat(new FreeCapacity(100, 100).without(30)).isEqualTo(new FreeCapacity(70, 70));
    assertThat(new FreeCapacity(100, 100).without(100)).isEqualTo(new FreeCapacity(0, 0));
    assertThat(new FreeCapacity(100, 100).without(1000)).isEqualTo(new FreeCapacity(0, 0));
    assertThat(new FreeCapacity(100, 100).without(0)).isEqualTo(new FreeCapacity(100, 100));
  }

  /** Whichever parts the reserved volumes come out of: the worst case of each row is the last. */
  @ParameterizedTest
  @CsvSource({
    "100 100, 50, 50",
    "100 10, 30, 70",
    "5 1 1 1 1 1, 5, 0",
    "5 1 1 1 1 1, 4, 1",
    "50 50 50, 100, 0",
    "100, 100, 0"
  })
  void ofSeveralPartsOnlyWhatIsCertainlyLeftInOneCounts(String parts, long reserved, long left) {
    long[] sizes = Stream.of(parts.split(" ")).mapToLong(Long::parseLong).toArray();
    long total = LongStream.of(sizes).sum();

    assertThat(new FreeCapacity(total, LongStream.of(sizes).max().orElseThrow()).without(reserved))
        .isEqualTo(new FreeCapacity(total - reserved, left));
  }

  @Test
  void aVolumeCannotBeLargerThanAllFreeSpace() {
    assertThat(new FreeCapacity(10, 100)).isEqualTo(new FreeCapacity(10, 10));
    assertThatThrownBy(() -> new FreeCapacity(-1, 0)).hasMessageContaining("available -1");
  }

  @Test
  void sumsDoNotOverflow() {
    assertThat(new FreeCapacity(100, 100).refusal(volumes(Long.MAX_VALUE, Long.MAX_VALUE)))
        .isPresent();
  }

  static List<NeededVolume> volumes(long... bytes) {
    int[] number = {0};
    return LongStream.of(bytes)
        .mapToObj(size -> new NeededVolume("default/claim-" + number[0]++, size))
        .toList();
  }
}
