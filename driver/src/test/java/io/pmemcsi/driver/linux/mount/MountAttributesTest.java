package io.pmemcsi.driver.linux.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Numbers of linux/mount.h. */
class MountAttributesTest {

  @Test
  void optionsBecomeAttributeBits() {
    assertThat(MountAttributes.of(List.of("ro", "nosuid", "nodev", "noexec", "nosymfollow")))
        .isEqualTo(new MountAttributes(0x20000f, 0));
  }

  @Test
  void theLastOfTwoContradictingOptionsWins() {
    assertThat(MountAttributes.of(List.of("noexec", "exec"))).isEqualTo(new MountAttributes(0, 8));
    assertThat(MountAttributes.of(List.of("exec", "noexec"))).isEqualTo(new MountAttributes(8, 8));
  }

  /** The kernel refuses a new access time mode unless the old one is cleared. */
  @Test
  void accessTimesReplaceEachOther() {
    assertThat(MountAttributes.of(List.of("noatime", "strictatime")))
        .isEqualTo(new MountAttributes(0x20, 0x70));
    assertThat(MountAttributes.of(List.of("relatime"))).isEqualTo(new MountAttributes(0, 0x70));
  }

  @Test
  void filesystemOptionsAreNotMountAttributes() {
    assertThat(MountAttributes.perMountOptions(List.of("dax=always", "ro", "discard", "noatime")))
        .containsExactly("ro", "noatime");
  }
}
