package io.pmemcsi.driver.node;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.mount.DaxMissingException;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeMountsTest {

  private static VolumeRecord volume(AccessModel usage, DeviceMode mode) {
    return new VolumeRecord(
        new VolumeId("volume"),
        4096,
        new VolumeParameters(
            true, false, usage, false, "pvc-1", OptionalLong.empty(), Optional.of(mode)),
        VolumeState.Blank.wiped());
  }

  private static MountEntry mounted(String option) {
    return new MountEntry(
        new DeviceNumber(259, 3),
        "/",
        Path.of("/staging"),
        Set.of("rw"),
        "ext4",
        "/dev/pmem0",
        Set.of("rw", option));
  }

  @ParameterizedTest
  @EnumSource(value = DeviceMode.class, names = "FILE", mode = EnumSource.Mode.EXCLUDE)
  void aMountWithoutDaxOfAnInterruptedCallIsNotUsed(DeviceMode mode) {
    assertThatExceptionOfType(DaxMissingException.class)
        .isThrownBy(
            () ->
                VolumeMounts.requireDax(
                    volume(AccessModel.APP_DIRECT, mode), mounted("stripe=512")))
        .withMessageContaining("/staging is mounted without DAX: unmount it")
        .withMessageContaining("usage=FileIO");
  }

  @ParameterizedTest
  @ValueSource(strings = {"dax", "dax=always"})
  void aMountWithDaxIsUsed(String option) {
    assertThatCode(
            () ->
                VolumeMounts.requireDax(
                    volume(AccessModel.APP_DIRECT, DeviceMode.LVM), mounted(option)))
        .doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource({"FILE_IO,LVM", "FILE_IO,DIRECT", "APP_DIRECT,FILE"})
  void aVolumeThatNeedsNoDaxIsUsedWithoutIt(AccessModel usage, DeviceMode mode) {
    assertThatCode(() -> VolumeMounts.requireDax(volume(usage, mode), mounted("stripe=512")))
        .doesNotThrowAnyException();
  }
}
