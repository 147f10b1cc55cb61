package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GoFlagsTest {

  @ParameterizedTest
  @CsvSource({
    "driver -mode=node, driver --mode=node",
    "driver --mode=node, driver --mode=node",
    "driver -mode node, driver --mode node",
    "driver -v=5, driver -v=5",
    "driver -v 5, driver -v 5",
    "driver -metrics-addr=0, driver --metrics-addr=0",
    "operator -leader-election, operator --leader-election",
    "render -f -, render -f -",
    "driver -pmemPercentage -5, driver --pmemPercentage -5",
    "render -- -file, render -- -file",
  })
  void bothSpellingsBecomeOne(String given, String expected) {
    assertThat(GoFlags.normalize(words(given))).isEqualTo(words(expected));
  }

  private static List<String> words(String text) {
    return Arrays.asList(text.split(" ", -1));
  }
}
