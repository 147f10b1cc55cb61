package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import io.pmemcsi.pods.ImageArchive;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The image on persistent memory: its runtime, its LVM with the settings for containers, its ndctl
 * and its file system tools. A container runtime is replaced by chroot, with the directories of the
 * node that the driver's pod has.
 */
@WithPmemGuest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ImageInGuestIT {
  private static final String ROOT = "/program/image";

  private final PmemGuest guest;

  ImageInGuestIT(PmemGuest guest) {
    this.guest = guest;
  }

  @BeforeAll
  void install(@TempDir Path work) throws Exception {
    GuestDriver.cleanUp(guest);
    Path root = guest.program().resolve("image");
    remove(root);
    Files.createDirectories(root.resolve("disk"));
    ImageArchive.ofProgram(work).writeRoot(root);
    // /run is shared with the node, so that the node sees the mounts of volumes
    guest.run(
        """
        set -e
        for directory in dev proc sys; do
          mount --rbind /$directory %1$s/$directory
          mount --make-rslave %1$s/$directory
        done
        mount --bind /run %1$s/run
        mount --bind /disk %1$s/disk
        mount -t tmpfs tmpfs %1$s/tmp
        """
            .formatted(ROOT));
  }

  @AfterAll
  void uninstall() throws Exception {
    guest.run(
        """
        for directory in dev proc sys run disk tmp; do umount --recursive %s/$directory; done
        """
            .formatted(ROOT));
    GuestDriver.cleanUp(guest);
    remove(guest.program().resolve("image"));
  }

  @ParameterizedTest
  @CsvSource({"lvm, ext4", "direct, xfs"})
  void aVolumeIsCreatedUsedAndDeleted(String mode, String type) {
    try (GuestDriver driver = start(mode)) {
      Volume volume = driver.create("in the image", 512 * DriverInGuest.MIB, Map.of());
      String directory = driver.mount(volume, type);
      assertThat(driver.hasDax(directory)).isTrue();
      guest.run("echo kept > %s/file".formatted(directory));

      if (mode.equals("lvm")) {
        assertThat(driver.expand(volume, 640 * DriverInGuest.MIB, directory))
            .isEqualTo(640 * DriverInGuest.MIB);
      }

      assertThat(guest.run("cat %s/file".formatted(directory))).isEqualTo("kept");
      driver.unmount(volume);
      driver.delete(volume);
      driver.assertNothingLeft();
    }
    GuestDriver.cleanUp(guest);
  }

  private GuestDriver start(String mode) {
    return GuestDriver.start(
        guest,
        "chroot %s env PMEM_CSI_JAVA_OPTIONS='%s' /usr/local/bin/pmem-csi-driver"
                .formatted(ROOT, PackagedProgram.JAVA_OPTIONS)
            + " -mode=node -deviceManager=%s %s -endpoint=unix://%s -nodeid=guest -v=3"
                .formatted(mode, GuestDriver.STATE_FLAG, GuestDriver.SOCKET)
            + " -pmemPercentage=50");
  }

  private static void remove(Path directory) throws Exception {
    Process removal = new ProcessBuilder("rm", "-rf", directory.toString()).inheritIO().start();
    assertThat(removal.waitFor()).isZero();
  }
}
