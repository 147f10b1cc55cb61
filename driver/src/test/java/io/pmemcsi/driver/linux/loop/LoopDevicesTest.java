package io.pmemcsi.driver.linux.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.linux.loop.LoopDevices.Loop;
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

  /** Somebody else's as a rule; whoever lists them all must not stumble over it. */
  @Test
  void aDeviceThatIsRemovedMeanwhileIsNone() {
    assertThat(
            LoopDevices.parse(
                """
                {
                   "loopdevices": [
                      {
                         "name": "/dev/loop0",
                         "back-file": null,
                         "offset": null
                      },{
                         "name": "/dev/loop1",
                         "back-file": "/state/devices/b.img",
                         "offset": null
                      },{
                         "name": "/dev/loop3",
                         "back-file": "/state/devices/a.img",
                         "offset": "0"
                      }
                   ]
                }
                """))
        .containsExactly(new Loop(Path.of("/dev/loop3"), Path.of("/state/devices/a.img"), 0));
  }

  @Test
  void noDeviceIsAnEmptyListOrNoOutputAtAll() {
    assertThat(LoopDevices.parse("{\n   \"loopdevices\": [\n\n   ]\n}\n")).isEmpty();
    assertThat(LoopDevices.parse("")).isEmpty();
  }
}
