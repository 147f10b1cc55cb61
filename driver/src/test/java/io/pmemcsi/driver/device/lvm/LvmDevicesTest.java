package io.pmemcsi.driver.device.lvm;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.Eraser;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.volume.Usage;
import io.pmemcsi.driver.volume.VolumeId;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LvmDevicesTest {
  private static final String HASH = "-09ee4ba0d6cf4c5ad0a9da5e7a12be5c2a7e4dd8b7a83d3b21e3d3b5";
  private static final VolumeId AAA = new VolumeId("aaa" + HASH);
  private static final VolumeId BBB = new VolumeId("bbb" + HASH);
  private static final VolumeId NEW = new VolumeId("new" + HASH);

  private final RecordedTools tools =
      new RecordedTools().answer("lvm fullreport", recorded("lvm/fullreport.json"));
  private final LvmDevices devices =
      new LvmDevices(
          tools,
          new Eraser((_, _, _) -> {}),
          List.of("ndbus0region1fsdax", "foreign"),
          4L << 30,
          List::of);

  @Test
  void volumes_are_listed_in_a_stable_order() {
    assertThat(devices.list()).extracting(Device::id).containsExactly(AAA, BBB);
  }

  @Test
  void a_volume_has_whole_extents_and_is_counted_at_once() {
    long before = devices.capacity().available();

    Device device = devices.create(NEW, 1, Usage.APP_DIRECT);

    assertThat(device)
        .isEqualTo(new Device(NEW, Path.of("/dev/ndbus0region1fsdax/" + NEW), 4194304));
    assertThat(tools.changes())
        .containsExactly(
            "lvcreate --yes -Zn -Wn --size=4194304b --name=" + NEW + " ndbus0region1fsdax");
    assertThat(devices.capacity().available()).isEqualTo(before - 4194304);
  }

  @Test
  void the_next_group_is_tried_when_the_first_fails() {
    tools.fail("lvcreate --yes -Zn -Wn --size=4194304b --name=" + NEW + " ndbus0", "I/O error");

    assertThat(devices.create(NEW, 0, Usage.APP_DIRECT).path())
        .isEqualTo(Path.of("/dev/foreign/" + NEW));
  }

  @Test
  void the_words_of_the_tool_reach_the_caller() {
    tools.fail("lvcreate", "device-mapper: reload ioctl failed");

    assertThatThrownBy(() -> devices.create(NEW, 0, Usage.APP_DIRECT))
        .isInstanceOf(DeviceException.ToolFailed.class)
        .hasMessageContaining("device-mapper: reload ioctl failed");
  }

  @ParameterizedTest
  @ValueSource(longs = {943718401, 1L << 50, Long.MAX_VALUE})
  void what_does_not_fit_is_refused_with_the_largest_possible_size(long size) {
    assertThatThrownBy(() -> devices.create(NEW, size, Usage.APP_DIRECT))
        .isInstanceOf(DeviceException.NotEnoughSpace.class)
        .hasMessageContaining(Long.toString(size))
        .hasMessageContaining("943718400");
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void a_second_volume_of_the_same_id_is_refused() {
    assertThatThrownBy(() -> devices.create(AAA, 1, Usage.APP_DIRECT))
        .isInstanceOf(DeviceException.Exists.class);
    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void an_inactive_volume_is_activated_when_it_is_wanted() {
    assertThat(devices.find(BBB)).isPresent();

    assertThat(tools.changes()).containsExactly("lvchange --activate=y ndbus0region1fsdax/" + BBB);
  }

  @Test
  void asking_whether_there_is_a_volume_changes_nothing() {
    assertThat(devices.exists(BBB)).isTrue();
    assertThat(devices.exists(NEW)).isFalse();

    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void deleting_what_is_not_there_does_nothing() {
    devices.delete(NEW, true);

    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void a_volume_grows_as_far_as_its_group_allows() {
    assertThatThrownBy(() -> devices.grow(AAA, 104857600 + 943718400L + 1))
        .isInstanceOf(DeviceException.NotEnoughSpace.class)
        .hasMessageContaining(Long.toString(104857600 + 943718400L));
    assertThatThrownBy(() -> devices.grow(NEW, 1)).isInstanceOf(DeviceException.NotFound.class);

    devices.grow(AAA, 104857601);

    assertThat(tools.changes()).contains("lvextend --size=109051904b ndbus0region1fsdax/" + AAA);
  }
}
