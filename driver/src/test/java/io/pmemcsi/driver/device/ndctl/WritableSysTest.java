package io.pmemcsi.driver.device.ndctl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WritableSysTest {
  private static final String READ_ONLY =
      "22 27 0:21 / /sys ro,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs ro\n";
  private static final String WRITABLE =
      "99 22 0:22 / /sys rw,relatime shared:8 - sysfs sysfs rw\n";

  private final RecordedTools tools = new RecordedTools();

  @Test
  void aWritableSysIsNotMountedAgain() {
    WritableSys.ensure(tools, () -> MountTable.parse(WRITABLE), true);

    assertThat(tools.changes()).isEmpty();
  }

  @Test
  void aReadOnlySysIsReplacedByThatOfTheHost() {
    WritableSys.ensure(
        tools,
        () -> MountTable.parse(tools.changes().isEmpty() ? READ_ONLY : READ_ONLY + WRITABLE),
        true);

    assertThat(tools.changes()).containsExactly("mount --bind /host-sys /sys");
  }

  @Test
  void aReadOnlySysWithoutThatOfTheHostIsFatal() {
    assertThatThrownBy(() -> WritableSys.ensure(tools, () -> MountTable.parse(READ_ONLY), false))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("/host-sys");
  }

  @Test
  void aRegionIsDetected(@TempDir Path devices) throws IOException {
    assertThat(WritableSys.hasRegion(devices)).isFalse();
    assertThat(WritableSys.hasRegion(devices.resolve("no-such-bus"))).isFalse();

    Files.createDirectory(devices.resolve("region0"));

    assertThat(WritableSys.hasRegion(devices)).isTrue();
  }
}
