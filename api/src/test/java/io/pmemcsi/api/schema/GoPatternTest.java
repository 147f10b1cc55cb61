package io.pmemcsi.api.schema;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GoPatternTest {

  @ParameterizedTest
  @CsvSource({"^a$, a", "^$|^b$, ''", "^[$]$, $", "^\\$$, $", "^(a|b$), b"})
  void aDollarSignIsTheVeryEndOfAText(String pattern, String text) {
    assertThat(GoPattern.compile(pattern).matcher(text).find()).isTrue();
    assertThat(GoPattern.compile(pattern).matcher(text + "\n").find()).isFalse();
  }
}
