package io.pmemcsi.driver.node;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.mount.DaxMissingException;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeMountsTest {

  private static final Access.Mount LABELLED =
      new Access.Mount(Optional.empty(), List.of("context=\"u:r:t:s0:c1,c2\""), false);

  private static VolumeRecord volume(AccessModel usage, DeviceMode mode) {
    return new VolumeRecord(
        new VolumeId("volume"),
        4096,
        new VolumeParameters(
            true,
            false,
            usage,
            false,
            "pvc-1",
            OptionalLong.empty(),
            Optional.of(mode),
            OptionalInt.empty()),
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
  @ValueSource(strings = {"context=\"u:r:t:s0:c1,c3\"", "context=u:r:t:s0", "seclabel"})
  void aMountWithAnotherSelinuxContextIsNotTheRequestedOne(String shown) {
    assertThatExceptionOfType(VolumeException.Incompatible.class)
        .isThrownBy(() -> VolumeMounts.requireSame(mounted(shown), LABELLED, false))
        .withMessageContaining("requested: u:r:t:s0:c1,c2");
  }

  /** A kernel without SELinux shows nothing. */
  @ParameterizedTest
  @ValueSource(strings = {"context=\"u:r:t:s0:c1,c2\"", "stripe=512"})
  void aMountWithTheSameSelinuxContextIsTheRequestedOne(String shown) {
    assertThatCode(() -> VolumeMounts.requireSame(mounted(shown), LABELLED, false))
        .doesNotThrowAnyException();
  }

  /** The kernel sorts categories, joins ranges and shows a range with equal ends as one level. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "s0:c456,c123 | s0:c123,c456",
        "s0:c1,c2,c3 | s0:c1.c3",
        "s0:c5,c0.c2 | s0:c0.c2,c5",
        "s0-s0:c3,c1 | s0-s0:c1,c3",
        "s0-s0 | s0",
      })
  void anotherSpellingOfASelinuxContextIsTheSame(String requested, String shown) {
    assertThatCode(() -> requireContext(requested, shown)).doesNotThrowAnyException();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "s0:c1,c3 | s0:c1.c3",
        "s0:c1,c2 | s1:c1,c2",
        "s0-s0:c1 | s0:c1",
        "s0:c1-s0:c1,c2 | s0:c1,c2",
      })
  void otherSelinuxLevelsAreAnotherContext(String requested, String shown) {
    assertThatExceptionOfType(VolumeException.Incompatible.class)
        .isThrownBy(() -> requireContext(requested, shown))
        .withMessageContaining("SELinux context u:r:t:" + shown);
  }

  private static void requireContext(String requested, String shown) {
    VolumeMounts.requireSame(
        mounted("context=\"u:r:t:" + shown + "\""),
        new Access.Mount(Optional.empty(), List.of("context=\"u:r:t:" + requested + "\""), false),
        false);
  }

  @ParameterizedTest
  @CsvSource({"FILE_IO,LVM", "FILE_IO,DIRECT", "APP_DIRECT,FILE"})
  void aVolumeThatNeedsNoDaxIsUsedWithoutIt(AccessModel usage, DeviceMode mode) {
    assertThatCode(() -> VolumeMounts.requireDax(volume(usage, mode), mounted("stripe=512")))
        .doesNotThrowAnyException();
  }
}
