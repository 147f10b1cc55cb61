package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The state directory: who may read it, what is in it, and what happens when its disk is full. */
class StateDirectoryIT extends DriverPerTest {

  @Test
  void otherUsersOfTheNodeCannotReadVolumes() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);

    assertThat(permissions(image(volume.getVolumeId()))).isEqualTo("rw-------");
    assertThat(permissions(scratch.state().resolve("devices"))).isEqualTo("rwx------");
    assertThat(permissions(scratch.state())).isEqualTo("rwx------");
    csi.delete(volume.getVolumeId());
  }

  /** Kubelet creates the state directory so, and earlier releases have created files so. */
  @Test
  void theStartCorrectsPermissions() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    Path entry = scratch.state().resolve(volume.getVolumeId() + ".json");
    for (String directory : new String[] {"", "devices", "contents"}) {
      allow(scratch.state().resolve(directory), "rwxr-xr-x");
    }
    for (Path file :
        new Path[] {image(volume.getVolumeId()), entry, scratch.state().resolve("lock")}) {
      allow(file, "rw-r--r--");
    }
    Path elsewhere = Files.createFile(scratch.directory().resolve("elsewhere"));
    allow(elsewhere, "rw-r--r--");
    Path link = Files.createSymbolicLink(scratch.state().resolve("link"), elsewhere);

    start();

    for (String directory : new String[] {"", "devices", "contents"}) {
      assertThat(permissions(scratch.state().resolve(directory))).isEqualTo("rwx------");
    }
    assertThat(permissions(image(volume.getVolumeId()))).isEqualTo("rw-------");
    assertThat(permissions(entry)).isEqualTo("rw-------");
    assertThat(permissions(scratch.state().resolve("lock"))).isEqualTo("rw-------");
    assertThat(permissions(elsewhere)).as("links are not followed").isEqualTo("rw-r--r--");
    Files.delete(link);
    csi.delete(volume.getVolumeId());
  }

  private static void allow(Path path, String permissions) throws IOException {
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
  }

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void volumesAreDeletedWhileTheDiskIsFull() throws IOException {
    driver.close();
    Path disk = Files.createTempFile("pmem-csi-disk", "");
    runner.run(Command.of("truncate", "--size=64M", disk.toString()));
    runner.run(Command.of("mkfs.ext4", "-q", "-F", disk.toString()));
    runner.run(Command.of("mount", "-o", "loop", disk.toString(), scratch.state().toString()));
    try {
      start();
      Volume used = csi.create("pvc-1", 16 * MIB);
      Volume blank = csi.create("pvc-2", 16 * MIB);
      csi.stage(used, scratch.pod("staging"), mount("ext4"));
      csi.unstage(used.getVolumeId(), scratch.pod("staging"));
      fill(scratch.state().resolve("contents"));
      assertThatCall(() -> csi.create("pvc-3", 16 * MIB))
          .fails(Status.Code.INTERNAL, "No space left on device");

      restart();
      csi.delete(used.getVolumeId());
      csi.delete(blank.getVolumeId());

      driver.close();
      scratch.assertNoVolumesLeft();
      Files.delete(scratch.state().resolve("contents").resolve("filler"));
      start();
      assertThat(findings()).as("a disk of its own has lost+found").isEmpty();
    } finally {
      driver.close();
      runner.run(Command.of("umount", "--lazy", scratch.state().toString()));
      Files.delete(disk);
    }
  }

  private static void fill(Path directory) throws IOException {
    Path filler = directory.resolve("filler");
    byte[] block = new byte[4096];
    try (OutputStream out = Files.newOutputStream(filler)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left on device");
    }
  }

  @Test
  void filesThatStandForNothingAreReportedAndThoseOfTheDriverRemoved() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    Path state = scratch.state();
    String other = VolumeId.fromName("pvc-2").value();
    Path temporary = Files.createFile(state.resolve(other + ".json.tmp"));
    Path contents = Files.createFile(state.resolve("contents").resolve(other + ".json.tmp"));
    Path newline = Files.createFile(state.resolve("a\nb.json"));
    Path dangling = Files.createSymbolicLink(state.resolve("dangling"), Path.of("nowhere"));
    Path image = Files.createSymbolicLink(image(other), Path.of("nowhere"));
    Path fifo = state.resolve(other + ".json");
    runner.run(Command.of("mkfifo", fifo.toString()));

    start();

    assertThat(driver.driver().startAudit().findings())
        .extracting(Finding::kind, Finding::subject, Finding::repaired)
        .containsExactlyInAnyOrder(
            tuple(Kind.LEFTOVER_FILE, other + ".json.tmp", true),
            tuple(Kind.LEFTOVER_FILE, "contents/" + other + ".json.tmp", true),
            tuple(Kind.LEFTOVER_FILE, "a\\u000ab.json", false),
            tuple(Kind.LEFTOVER_FILE, "dangling", false),
            tuple(Kind.LEFTOVER_FILE, "devices/" + other + ".img", false),
            tuple(Kind.DAMAGED_RECORD, other, false));
    assertThat(temporary).doesNotExist();
    assertThat(contents).doesNotExist();
    assertThatCall(() -> csi.delete(other))
        .fails(Status.Code.FAILED_PRECONDITION, "it is not a regular file");
    csi.delete(volume.getVolumeId());
    for (Path file : new Path[] {newline, dangling, image, fifo}) {
      Files.delete(file);
    }
    restart();
    assertThat(findings()).isEmpty();
  }

  @Test
  void theLoopDeviceOfADeletedImageFileIsDetachedWithItsVolume() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    csi.publish(volume, scratch.pod("staging"), scratch.pod("raw"), block());
    Files.delete(image(volume.getVolumeId()));

    assertThatCall(() -> csi.delete(volume.getVolumeId()))
        .fails(Status.Code.FAILED_PRECONDITION, "mounted at " + scratch.pod("raw"));
    csi.unpublish(volume.getVolumeId(), scratch.pod("raw"));
    csi.delete(volume.getVolumeId());
    // the check after each test finds loop devices of deleted files
  }

  @Test
  void theLoopDeviceOfADeletedKataImageIsDetached() throws IOException {
    Volume volume =
        csi.create(Calls.request("kata", 64 * MIB).putParameters("kataContainers", "true"));
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    csi.publish(volume, scratch.pod("staging"), scratch.pod("target"), mount("ext4"));
    Files.delete(
        scratch
            .state()
            .resolve("mount")
            .resolve(volume.getVolumeId())
            .resolve("kata-containers-pmem-csi-vm.img"));

    csi.unpublish(volume.getVolumeId(), scratch.pod("target"));
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.delete(volume.getVolumeId());
  }

  @Test
  void anInterruptedCreationThatIsNotRepeatedIsRemovedAfterAWhile() {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    Volume finished = csi.create("pvc-2", 16 * MIB);
    driver.close();
    interruptCreation(volume);
    start();
    assertThat(findings()).containsExactly(Kind.UNFINISHED_CREATE);

    driver.driver().auditNow();
    driver.driver().auditAfter(Duration.ofMinutes(59));
    assertThat(image(volume.getVolumeId())).exists();
    driver.driver().auditAfter(Duration.ofMinutes(61));

    assertThat(image(volume.getVolumeId())).doesNotExist();
    assertThat(image(finished.getVolumeId())).exists();
    csi.delete(finished.getVolumeId());
    restart();
    assertThat(findings()).isEmpty();
  }

  private void interruptCreation(Volume volume) {
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.setState(
        ledger.find(new VolumeId(volume.getVolumeId())).orElseThrow(), new VolumeState.Creating());
  }
}
