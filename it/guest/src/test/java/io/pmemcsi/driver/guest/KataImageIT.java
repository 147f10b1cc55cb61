package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.command.Command;
import io.pmemcsi.driver.command.ProcessRunner;
import io.pmemcsi.driver.kata.ImageFiles;
import io.pmemcsi.driver.loop.LoopDevices;
import io.pmemcsi.driver.mount.FilesystemType;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image files of Kata volumes as the memory of a machine, which is what the Kata runtime makes
 * of them: the kernel itself has to like superblock and checksum.
 */
@WithPmemGuest
class KataImageIT {
  private final PmemGuest guest;
  private final ProcessRunner runner = new ProcessRunner();
  @TempDir private Path folder;

  KataImageIT(PmemGuest guest) {
    this.guest = guest;
  }

  @AfterEach
  void cleanUp() throws IOException {
    GuestDriver.cleanUp(guest);
    for (FilesystemType type : FilesystemType.values()) {
      Files.deleteIfExists(inShare(type));
    }
  }

  private Path inShare(FilesystemType type) {
    return guest.share().resolve("kata-" + type.text());
  }

  /** An image file as it is made on a volume of that size, with one file inside. */
  private void make(FilesystemType type, long volumeBytes) throws IOException {
    Path volume = folder.resolve(type.text());
    Path mountPoint = Files.createDirectory(folder.resolve("mnt-" + type.text()));
    Path inside = Files.createDirectory(folder.resolve("inside-" + type.text()));
    try (RandomAccessFile file = new RandomAccessFile(volume.toFile(), "rw")) {
      file.setLength(volumeBytes);
    }
    LoopDevices loops = new LoopDevices(runner);
    Path loop = loops.attach(volume, 0);
    try {
      runner.run(Command.of("mkfs.ext4", "-q", "-F", loop.toString()));
      runner.run(Command.of("mount", loop.toString(), mountPoint.toString()));
      try {
        Path image = new ImageFiles(runner, loops).ensure(mountPoint, type);
        runner.run(
            Command.of("mount", "-o", "loop,offset=2097152", image.toString(), inside.toString()));
        Files.writeString(inside.resolve("file"), "inside " + type.text());
        runner.run(Command.of("umount", inside.toString()));
        runner.run(Command.of("cp", "--sparse=always", image.toString(), inShare(type).toString()));
      } finally {
        runner.run(Command.of("umount", mountPoint.toString()));
      }
    } finally {
      loops.detach(loop);
    }
  }

  @Test
  void theKernelTakesThemForMemoryWithDax() throws IOException {
    make(FilesystemType.EXT4, 64L << 20);
    make(FilesystemType.XFS, 512L << 20);
    guest.replaceDevices();

    for (FilesystemType type : FilesystemType.values()) {
      String device = type == FilesystemType.EXT4 ? "0" : "1";
      String out =
          guest.run(
              """
              set -e
              dd if=/host/kata-%s of=/dev/pmem%s bs=2M conv=sparse,fsync 2> /dev/null
              ndctl disable-namespace namespace%s.0 > /dev/null 2>&1
              ndctl enable-namespace namespace%s.0 > /dev/null 2>&1
              ndctl list -n namespace%s.0 | jq -r '.[] | .mode + " " + (.align | tostring)'
              mkdir -p /mnt/kata
              mount -o dax=always /dev/pmem%s /mnt/kata
              cat /mnt/kata/file; echo
              grep ' /mnt/kata ' /proc/mounts | grep -o dax=always
              umount /mnt/kata
              """
                  .formatted(type.text(), device, device, device, device, device));
      assertThat(out.toLowerCase(Locale.ROOT).lines())
          .containsExactly("fsdax 2097152", "inside " + type.text(), "dax=always");
    }
  }
}
