package io.pmemcsi.driver.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FilesystemCheckTest {

  private static final FilesystemCheck CHECK = new FilesystemCheck("volume pvc-1");

  @Test
  void aFilesystemIsRecordedWithItsUuid() {
    UUID uuid = UUID.fromString("406a6f2d-9d72-4170-8134-210ac52080b7");

    assertThat(CHECK.identified(new Found.Signature("xfs", uuid.toString())))
        .isEqualTo(new Filesystem("xfs", uuid));
  }

  /** {@code tune2fs -U clear} creates such a filesystem. */
  @ParameterizedTest
  @ValueSource(strings = {"", "1234-ABCD"})
  void aFilesystemWithoutAUniqueUuidIsRefusedWithTheRemedy(String uuid) {
    assertThatThrownBy(() -> CHECK.identified(new Found.Signature("ext4", uuid)))
        .isInstanceOf(VolumeException.PreconditionFailed.class)
        .hasMessageContainingAll("volume pvc-1", "ext4", "\"" + uuid + "\"", "tune2fs -U random");
  }
}
