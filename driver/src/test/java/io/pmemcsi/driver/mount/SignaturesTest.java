package io.pmemcsi.driver.mount;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.command.CommandResult;
import io.pmemcsi.driver.command.ToolFailedException;
import io.pmemcsi.driver.mount.Signatures.Found;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Output of the real blkid. */
class SignaturesTest {

  private static final Path DEVICE = Path.of("/dev/x");

  @Test
  void aFilesystemIsToldWithItsUuid() {
    assertThat(
            Signatures.parse(
                """
                DEVNAME=/dev/loop0
                UUID=8e63dd33-c0e5-4a3d-beb8-28ee238491ec
                VERSION=1.0
                FSBLOCKSIZE=4096
                TYPE=ext4
                USAGE=filesystem
                """))
        .contains(new Found("ext4", "8e63dd33-c0e5-4a3d-beb8-28ee238491ec"));
  }

  @Test
  void aPartitionTableIsSomething() {
    assertThat(Signatures.parse("DEVNAME=/dev/loop0\nPTTYPE=dos\n")).contains(new Found("dos", ""));
  }

  @Test
  void exitCodeTwoMeansNothing() {
    assertThat(new Signatures(_ -> new CommandResult(2, "", "")).probe(DEVICE)).isEmpty();
  }

  @Test
  void contradictingSignaturesAreNeverTakenForNothing() {
    Signatures signatures =
        new Signatures(
            command -> {
              assertThat(command.goodExits()).containsExactlyInAnyOrder(0, 2);
              throw ToolFailedException.exited(
                  command, new CommandResult(8, "", "ambivalent result"));
            });

    assertThatExceptionOfType(ToolFailedException.class).isThrownBy(() -> signatures.probe(DEVICE));
  }
}
