package io.pmemcsi.driver.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.loop.LoopDevices.Loop;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Output of the real losetup. */
class LoopDevicesTest {

  @Test
  void devicesAreReadFromJson() {
    assertThat(
            LoopDevices.parse(
                """
                {
                   "loopdevices": [
                      {
                         "name": "/dev/loop3",
                         "back-file": "/state/devices/a.img",
                         "offset": 2097152
                      }
                   ]
                }
                """))
        .containsExactly(new Loop(Path.of("/dev/loop3"), Path.of("/state/devices/a.img"), 2097152));
  }

  @Test
  void noDeviceIsAnEmptyListOrNoOutputAtAll() {
    assertThat(LoopDevices.parse("{\n   \"loopdevices\": [\n\n   ]\n}\n")).isEmpty();
    assertThat(LoopDevices.parse("")).isEmpty();
  }
}
