package io.pmemcsi.driver.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.linux.block.Signatures.Found;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SignatureOriginTest {

  private static final UUID PLANNED = UUID.fromString("8e63dd33-c0e5-4a3d-beb8-28ee238491ec");
  private static final String OTHER = "11111111-2222-3333-4444-555555555555";

  @Test
  void thePlannedUuidMeansAnInterruptedMkfs() {
    Found planned = new Found.Signature("xfs", PLANNED.toString().toUpperCase(Locale.ROOT));

    assertThat(SignatureOrigin.classify(Optional.of(PLANNED), planned))
        .isEqualTo(new SignatureOrigin.Own());
  }

  @Test
  void dataWithoutASignatureMeansAnInterruptedMkfs() {
    assertThat(SignatureOrigin.classify(Optional.of(PLANNED), new Found.Nothing()))
        .isEqualTo(new SignatureOrigin.Own());
  }

  @ParameterizedTest
  @CsvSource({"ext4", "xfs"})
  void aFilesystemWithAnotherUuidIsNotOwned(String type) {
    Found.Signature there = new Found.Signature(type, OTHER);

    assertThat(SignatureOrigin.classify(Optional.of(PLANNED), there))
        .isEqualTo(new SignatureOrigin.NotOwned(there));
  }

  @Test
  void withoutAPlannedUuidNoFilesystemIsOwned() {
    Found.Signature there = new Found.Signature("ext4", PLANNED.toString());

    assertThat(SignatureOrigin.classify(Optional.empty(), there))
        .isEqualTo(new SignatureOrigin.NotOwned(there));
  }

  @ParameterizedTest
  @CsvSource({"btrfs," + OTHER, "dos,''", "ext4,''", "LVM2_member,a1-b2"})
  void anUnusableSignatureIsKept(String type, String uuid) {
    Found there = new Found.Signature(type, uuid);

    assertThat(SignatureOrigin.classify(Optional.of(PLANNED), there))
        .isEqualTo(new SignatureOrigin.Unknown(there));
  }

  @Test
  void anUnreadableDeviceIsKept() {
    Found there = new Found.Unreadable("bad memory");

    assertThat(SignatureOrigin.classify(Optional.of(PLANNED), there))
        .isEqualTo(new SignatureOrigin.Unknown(there));
  }
}
