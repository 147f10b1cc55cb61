package io.pmemcsi.driver.linux.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FilesystemTypeTest {

  private static final UUID ANY = new UUID(0, 1);
  private static final Path DEVICE = Path.of("/dev/x");

  @Test
  void ext4IsCreatedForHugePages() {
    assertThat(String.join(" ", FilesystemType.EXT4.mkfs(DEVICE, 1 << 30, ANY)))
        .isEqualTo(
            "mkfs.ext4 -q -b 4096 -U %s -E stride=512,stripe_width=512 -F /dev/x".formatted(ANY));
  }

  @Test
  void xfsIsCreatedForHugePages() {
    assertThat(String.join(" ", FilesystemType.XFS.mkfs(DEVICE, 1 << 30, ANY)))
        .isEqualTo(
            "mkfs.xfs -q -b size=4096 -m reflink=0,uuid=%s -d su=2m,sw=1 -f /dev/x".formatted(ANY));
  }

  @Test
  void aSmallXfsHasFewAllocationGroups() {
    assertThat(FilesystemType.XFS.mkfs(DEVICE, 300 << 20, ANY)).contains("su=2m,sw=1,agcount=2");
  }

  @Test
  void noTypeMeansExt4AndOthersAreUnknown() {
    assertThat(FilesystemType.parse("")).contains(FilesystemType.EXT4);
    assertThat(FilesystemType.parse("btrfs")).isEmpty();
  }
}
