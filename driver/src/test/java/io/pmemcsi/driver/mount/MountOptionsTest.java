package io.pmemcsi.driver.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class MountOptionsTest {

  @Test
  void someAreBitsAndTheOthersAreForTheFilesystem() {
    assertThat(MountOptions.of(List.of("ro", "noatime", "dax=always", "defaults", "discard")))
        .isEqualTo(new MountOptions(1 | 1024, "dax=always,discard"));
  }

  @Test
  void theLastWordCounts() {
    assertThat(MountOptions.of(List.of("ro", "nosuid", "rw"))).isEqualTo(new MountOptions(2, ""));
  }
}
