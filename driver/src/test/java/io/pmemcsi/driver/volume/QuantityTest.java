package io.pmemcsi.driver.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "1, 1",
    "100Mi, 104857600",
    "1Gi, 1073741824",
    "1.5Gi, 1610612736",
    "1k, 1000",
    "1M, 1000000",
    "12e6, 12000000",
    "1E3, 1000",
    "1E, 1000000000000000000",
    "500m, 1",
    "1n, 1",
    ".5Ki, 512",
    "+5, 5",
    "7Ei, 8070450532247928832"
  })
  void quantitiesAreParsedAsBytes(String text, long bytes) {
    assertThat(Quantity.parseBytes(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1X", "foo", "-1", "1 Gi", "1gi", "Gi", "1e", "8Ei", "1e999", "1Gi "})
  void anInvalidQuantityIsRefusedWithItsText(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Quantity.parseBytes(text))
        .withMessageContaining("\"" + text + "\"");
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1023, 1023", "1024, 1Ki", "33281802240, 31740Mi", "68719476736, 64Gi"})
  void bytesAreShownInTheLargestUnitThatFits(long bytes, String text) {
    assertThat(Quantity.format(bytes)).isEqualTo(text);
  }
}
