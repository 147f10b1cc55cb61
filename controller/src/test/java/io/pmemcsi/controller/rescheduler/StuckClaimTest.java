package io.pmemcsi.controller.rescheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StuckClaimTest {

  private static final Map<String, String> SELECTOR = Map.of("storage", "pmem");

  @ParameterizedTest
  @CsvSource({
    "true, pmem, false",
    "false, pmem, false",
    "true, disk, false",
    "false, disk, true",
  })
  void onlyANodeWithNeitherDriverNorLabelsIsGivenUp(boolean listed, String label, boolean another) {
    assertThat(StuckClaim.needsAnotherNode(listed, Map.of("storage", label, "x", "y"), SELECTOR))
        .isEqualTo(another);
  }

  @Test
  void aNodeThatDoesNotExistIsGivenUp() {
    assertThat(StuckClaim.needsAnotherNode(false, Map.of(), SELECTOR)).isTrue();
  }

  @Test
  void everyNodeMatchesAnEmptySelector() {
    assertThat(StuckClaim.needsAnotherNode(false, Map.of(), Map.of())).isFalse();
  }
}
