package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Snapshot;
import csi.v1.Volume;
import csi.v1.VolumeContentSource;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Snapshots in file mode on a filesystem whose files can share blocks. */
class ReflinkIT extends ScratchPerTest {

  private final ProcessRunner runner = new ProcessRunner();
  private Path disk;

  @BeforeEach
  void mountDisk() throws IOException {
    Path image = scratch.directory().resolve("disk.img");
    disk = Files.createDirectory(scratch.directory().resolve("disk"));
    runner.run(Command.of("truncate", "-s", "1G", image.toString()));
    runner.run(Command.of("mkfs.xfs", "-q", "-m", "reflink=1", image.toString()));
    runner.run(Command.of("mount", "-o", "loop", image.toString(), disk.toString()));
  }

  @AfterEach
  void unmountDisk() {
    runner.run(Command.of("umount", disk.toString()));
  }

  @Test
  void aSnapshotSharesTheBlocksOfItsVolume() throws IOException {
    byte[] data = new byte[(int) (64 * MIB)];
    new SplittableRandom(1).nextBytes(data);
    try (FileModeDriver driver = FileModeDriver.start(disk)) {
      Calls csi = new Calls(driver);
      Volume volume = csi.create("pvc", 128 * MIB);
      Path staging = scratch.pod("staging");
      csi.stage(volume, staging, mount("ext4"));
      Files.write(staging.resolve("data"), data);
      runner.run(Command.of("sync", "-f", staging.toString()));
      runner.run(Command.of("sync", "-f", disk.toString()));
      long free = disk.toFile().getUsableSpace();

      Snapshot snapshot = csi.snapshot("snap", volume.getVolumeId());

      assertThat(disk.toFile().getUsableSpace()).isGreaterThan(free - 32 * MIB);
      Volume restored =
          csi.create(
              request("restored", 128 * MIB)
                  .setVolumeContentSource(
                      VolumeContentSource.newBuilder()
                          .setSnapshot(
                              VolumeContentSource.SnapshotSource.newBuilder()
                                  .setSnapshotId(snapshot.getSnapshotId()))));
      Files.write(staging.resolve("data"), new byte[1]);
      Path target = scratch.pod("target");
      csi.stage(restored, target, mount("ext4"));
      assertThat(Files.readAllBytes(target.resolve("data"))).isEqualTo(data);
      csi.unstage(restored.getVolumeId(), target);
      csi.unstage(volume.getVolumeId(), staging);
      csi.delete(restored.getVolumeId());
      csi.delete(volume.getVolumeId());
      csi.deleteSnapshot(snapshot.getSnapshotId());
      Files.deleteIfExists(staging);
      Files.deleteIfExists(target);
    }
  }
}
