package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.api.DeviceMode;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Operator and driver know device modes separately, because neither depends on the other. */
class DeviceModesTest {

  @Test
  void theOperatorKnowsTheModesOfTheDriverAndWhatTheyCanDo() {
    Map<String, Boolean> ofTheOperator =
        Arrays.stream(DeviceMode.values())
            .collect(Collectors.toMap(DeviceMode::text, DeviceMode::isExpandable));
    Map<String, Boolean> ofTheDriver =
        Arrays.stream(io.pmemcsi.driver.device.DeviceMode.values())
            .collect(
                Collectors.toMap(
                    io.pmemcsi.driver.device.DeviceMode::text,
                    io.pmemcsi.driver.device.DeviceMode::isExpandable));

    assertThat(ofTheOperator).isEqualTo(ofTheDriver);
  }
}
