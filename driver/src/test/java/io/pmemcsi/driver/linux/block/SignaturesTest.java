package io.pmemcsi.driver.linux.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.linux.block.Signatures.Found;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Output of the real blkid. */
class SignaturesTest {

  private static final Path DEVICE = Path.of("/dev/x");

  @TempDir private Path directory;

  @Test
  void aFilesystemIsReportedWithItsUuid() {
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
        .contains(new Found.Signature("ext4", "8e63dd33-c0e5-4a3d-beb8-28ee238491ec"));
  }

  @Test
  void aPartitionTableIsASignature() {
    assertThat(Signatures.parse("DEVNAME=/dev/loop0\nPTTYPE=dos\n"))
        .contains(new Found.Signature("dos", ""));
  }

  @Test
  void exitCodeTwoMeansNoSignatureIfTheDeviceIsReadable() throws IOException {
    Path readable = Files.write(directory.resolve("device"), new byte[] {1, 2, 3});

    assertThat(new Signatures(_ -> new CommandResult(2, "", "")).probe(readable))
        .isEqualTo(new Found.Nothing());
  }

  @Test
  void anUnreadableDeviceIsNotEmpty() {
    assertThat(new Signatures(_ -> new CommandResult(2, "", "")).probe(DEVICE))
        .isInstanceOf(Found.Unreadable.class)
        .hasToString("a device that cannot be read: /dev/x: no such file or directory");
  }

  @Test
  void contradictingSignaturesAreNotTreatedAsNone() {
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
