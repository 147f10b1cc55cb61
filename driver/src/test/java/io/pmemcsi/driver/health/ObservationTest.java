package io.pmemcsi.driver.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountTable;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObservationTest {

  @Test
  void aVolumeWithoutAnythingUnusualHasNoProblem() {
    assertThat(observation(List.of(), mounts("rw,relatime", "rw,dax=always")).problems()).isEmpty();
  }

  /** The options of one mount come first, then those of its filesystem. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rw          | rw                             | false", // as it was mounted
        "ro          | ro                             | false", // staged with the mount flag ro
        "ro,relatime | rw,dax=always                  | false", // published read-only
        "rw,relatime | ro,dax=always,errors=remount-ro| true", // Linux before 6.14, after an error
        "rw,relatime | rw,emergency_ro                | true", // newer ones
      })
  void onlyAFilesystemThatBecameReadOnlyIsAProblem(
      String mount, String filesystem, boolean problem) {
    List<Problem> problems = observation(List.of(), mounts(mount, filesystem)).problems();

    assertThat(problems)
        .extracting(Problem::kind)
        .isEqualTo(problem ? List.of(Problem.Kind.READ_ONLY_FILESYSTEM) : List.of());
    assertThat(problems).allSatisfy(p -> assertThat(p.text()).contains("/staging", "fsck"));
  }

  @Test
  void badBlocksAreReportedInBytes() {
    List<SectorRange> bad = SectorRange.parse("2048 8\n16 1\n");

    assertThat(observation(bad, List.of()).problems())
        .singleElement()
        .satisfies(
            problem -> {
              assertThat(problem.kind()).isEqualTo(Problem.Kind.BAD_BLOCKS);
              assertThat(problem.text())
                  .startsWith("4608 bytes in 2 places cannot be read, the first at byte 8192")
                  .contains("backup", "ndctl clear-errors");
            });
  }

  @Test
  void theCauseComesBeforeItsEffects() {
    Observation all =
        new Observation(
            List.of("/dev/pmem0"),
            SectorRange.parse("0 8"),
            mounts("rw", "ro"),
            List.of(Path.of("/staging")));

    assertThat(all.problems())
        .extracting(Problem::kind)
        .containsExactly(
            Problem.Kind.DEVICE_VANISHED,
            Problem.Kind.BAD_BLOCKS,
            Problem.Kind.READ_ONLY_FILESYSTEM,
            Problem.Kind.SHUT_DOWN_FILESYSTEM);
  }

  private static Observation observation(List<SectorRange> bad, List<MountEntry> mounts) {
    return new Observation(List.of(), bad, mounts, List.of());
  }

  private static List<MountEntry> mounts(String mount, String filesystem) {
    return MountTable.parse(
            "36 35 259:0 / /staging %s shared:1 - ext4 /dev/pmem0 %s\n"
                .formatted(mount, filesystem))
        .entries();
  }
}
