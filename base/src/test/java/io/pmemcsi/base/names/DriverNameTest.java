package io.pmemcsi.base.names;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DriverNameTest {

  @Test
  void namesThatFollowFromTheDriverName() {
    var name = new DriverName("pmem-csi.intel.com");

    assertThat(name.hyphenated()).isEqualTo("pmem-csi-intel-com");
    assertThat(name.topologyKey()).isEqualTo("pmem-csi.intel.com/node");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-a", "a-", "a..b", "a_b", "Upper.case", "a b"})
  void refusesWhatIsNoDomainName(String wrong) {
    assertThatThrownBy(() -> new DriverName(wrong))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("\"" + wrong + "\"");
    assertThat(DriverName.isAllowed(wrong)).isFalse();
  }

  @Test
  void refusesMoreThan63Characters() {
    var longName = "a".repeat(64);

    assertThatThrownBy(() -> new DriverName(longName)).hasMessageContaining("64 characters");
    assertThat(DriverName.isAllowed(longName)).isFalse();
    assertThat(DriverName.isAllowed(longName.substring(1))).isTrue();
  }
}
