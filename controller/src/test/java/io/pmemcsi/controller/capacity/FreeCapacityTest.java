package io.pmemcsi.controller.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.controller.volume.NeededVolume;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

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

  @Test
  void ofSeveralPartsOnlyWhatIsCertainlyLeftInOneCounts() {
    // two parts of 100 lose 50: at worst 25 each
    assertThat(new FreeCapacity(200, 100).without(50)).isEqualTo(new FreeCapacity(150, 75));
    // parts of 100 and 10 lose 30: at worst all out of the first
    assertThat(new FreeCapacity(110, 100).without(30)).isEqualTo(new FreeCapacity(80, 70));
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
