package io.pmemcsi.driver.linux.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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
  void theLastMountAtAPathCounts() {
    assertThat(TABLE.at(Path.of("/pods/twice")).orElseThrow().number()).isEqualTo("7:2");
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
  void allMountsOfADeviceAreFound() {
    assertThat(TABLE.of("259:3")).hasSize(2);
  }

  @Test
  void whatIsNotMountedIsNotFound() {
    assertThat(TABLE.at(Path.of("/pods"))).isEmpty();
  }

  @Test
  void brokenLinesAreNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MountTable.parse("24 27 0:6 / /dev rw"))
        .withMessageContaining("24 27");
  }

  @Test
  void theRealTableIsUnderstood() {
    assertThat(MountTable.read().at(Path.of("/proc"))).isPresent();
  }
}
