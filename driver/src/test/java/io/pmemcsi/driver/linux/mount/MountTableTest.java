package io.pmemcsi.driver.linux.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.pmemcsi.driver.linux.block.DeviceNumber;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Lines as a real kernel prints them. */
class MountTableTest {

  private static final MountTable TABLE =
      MountTable.parse(
          """
          24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,size=12331664k,mode=755
          80 27 259:3 / /var/lib/kubelet/pv/globalmount rw,noatime shared:42 - ext4 /dev/pmem0 rw,dax=always,stripe=512
          81 27 259:3 / /pods/a\\040b\\134c ro,noatime master:1 propagate_from:2 - ext4 /dev/pmem0 rw,dax=always,stripe=512
          82 27 0:6 /loop7 /pods/raw rw,relatime - devtmpfs devtmpfs rw,size=12331664k,mode=755
          83 27 7:1 / /pods/twice rw,relatime - xfs /dev/loop1 rw,attr2
          84 83 7:2 / /pods/twice rw,relatime - ext4 /dev/loop2 rw
          """);

  @Test
  void theLastMountAtAPathWins() {
    assertThat(TABLE.at(Path.of("/pods/twice")).orElseThrow().number()).hasToString("7:2");
  }

  @Test
  void escapedPathsAreRead() {
    MountEntry entry = TABLE.at(Path.of("/pods/a b\\c")).orElseThrow();

    assertThat(entry.isReadOnly()).isTrue();
    assertThat(entry.has("noatime")).isTrue();
    assertThat(entry.has("dax")).isTrue();
    assertThat(entry.has("dax=always")).isTrue();
    assertThat(entry.has("nodev")).isFalse();
  }

  @Test
  void quotedOptionsMayContainCommas() {
    MountEntry entry =
        MountTable.parse(
                "85 27 7:5 / /a rw - ext4 /dev/loop5 rw,context=\"u:r:t:s0:c1,c2\",stripe=512\n")
            .at(Path.of("/a"))
            .orElseThrow();

    assertThat(entry.selinuxContext()).contains("u:r:t:s0:c1,c2");
    assertThat(entry.has("stripe=512")).isTrue();
  }

  @Test
  void allMountsOfADeviceAreFound() {
    assertThat(TABLE.of(new DeviceNumber(259, 3))).hasSize(2);
  }

  /** Any user may create such a mount; a parser that expects UTF-8 fails on it. */
  @Test
  void namesThatAreNotTextAreReadAndShownAsNumbers() {
    byte[] line =
        "90 27 7:3 / /mnt/a\u00ff\u00feb rw - ext4 /dev/\u00e9 rw\n91 27 7:4 / /z rw - ext4 /dev/z rw\n"
            .getBytes(StandardCharsets.ISO_8859_1);

    MountTable table = MountTable.parse(line);

    assertThat(table.entries().getFirst().mountPoint()).hasToString("/mnt/a\\377\\376b");
    assertThat(table.entries().getFirst().source()).isEqualTo("/dev/\\351");
    assertThat(table.of(new DeviceNumber(7, 3))).hasSize(1);
    assertThat(table.at(Path.of("/z"))).isPresent();
  }

  @Test
  void namesMayHaveCarriageReturns() {
    MountTable table = MountTable.parse("90 27 7:3 / /mnt/a\rb rw - ext4 /dev/x rw\n");

    assertThat(table.at(Path.of("/mnt/a\rb"))).isPresent();
    assertThat(table.entries()).hasSize(1);
  }

  @Test
  void namesMayHaveCharactersThatTakeSeveralBytes() {
    MountTable table = MountTable.parse("90 27 7:3 / /mnt/\u00e4 rw - ext4 /dev/x rw\n");

    assertThat(table.of(new DeviceNumber(7, 3)))
        .extracting(MountEntry::mountPoint)
        .containsExactly(Path.of("/mnt/\u00e4"));
    assertThat(table.at(Path.of("/mnt/\u00e4"))).isPresent();
  }

  @Test
  void aPathThatIsNotMountedIsNotFound() {
    assertThat(TABLE.at(Path.of("/pods"))).isEmpty();
  }

  @Test
  void malformedLinesAreNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MountTable.parse("24 27 0:6 / /dev rw").entries())
        .withMessageContaining("24 27");
  }

  @Test
  void theTableOfTheRunningKernelIsParsed() {
    assertThat(MountTable.read().at(Path.of("/proc"))).isPresent();
  }
}
