package io.pmemcsi.driver.node;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.VolumeException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KataVolumesTest {

  private static void requireSame(String mounted, String requested) {
    List<String> options = List.of(requested.split(","));
    KataVolumes.requireSame(
        new MountEntry(
            new DeviceNumber(7, 1),
            "/",
            Path.of("/target"),
            Set.of(mounted.split(",")),
            "ext4",
            "/dev/loop1",
            Set.of("rw")),
        new Access.Mount(Optional.of(FilesystemType.EXT4), options, false),
        options);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"rw,relatime | noatime,noexec", "rw,relatime | strictatime", "ro | ro,nosuid"})
  void anImageThatAnEarlierReleaseMountedWithoutFlagsIsKept(String mounted, String requested) {
    assertThatCode(() -> requireSame(mounted, requested)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rw,relatime | ro,noatime | writable",
        "ro,relatime | noatime | read-only",
        "rw,noexec,relatime | exec | noexec",
        "rw,noexec,relatime | noexec,noatime | noatime"
      })
  void anImageWithOtherFlagsIsNotTheRequestedMount(
      String mounted, String requested, String reason) {
    assertThatExceptionOfType(VolumeException.Incompatible.class)
        .isThrownBy(() -> requireSame(mounted, requested))
        .withMessageContaining(reason);
  }
}
