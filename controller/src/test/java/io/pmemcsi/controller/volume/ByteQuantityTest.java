package io.pmemcsi.controller.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteQuantityTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0B",
    "63484Mi, 63484MiB",
    "400Gi, 400GiB",
    "1024Ki, 1MiB",
    "1000, 1000B",
    "1G, 1000000000B",
    "2Pi, 2PiB",
  })
  void amountsAreWrittenAsKubernetesDoes(String quantity, String text) {
    assertThat(ByteQuantity.format(ByteQuantity.parse(quantity))).isEqualTo(text);
  }

  @Test
  void fractionsAreRoundedUpAndGiganticAmountsCut() {
    assertThat(ByteQuantity.parse("1.5")).isEqualTo(2);
    assertThat(ByteQuantity.parse("1.5Gi")).isEqualTo(3L << 29);
    assertThat(ByteQuantity.parse("100Ei")).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void otherTextIsRefusedWithTheText() {
    assertThatThrownBy(() -> ByteQuantity.parse("a lot"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"a lot\" is not a quantity");
  }
}
