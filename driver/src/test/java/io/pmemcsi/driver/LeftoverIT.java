package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Leftover mounts, loop devices and pending-mount records, and mounts that the driver did not
 * create.
 */
class LeftoverIT extends DriverPerTest {

  @Test
  void anEphemeralVolumeThatIsNotPublishedIsReported() {
    csi.publish(Calls.ephemeral("csi-1", scratch.pod("target"), mount(""), Map.of("size", "16Mi")));
    driver.close();
    runner.run(Command.of("umount", scratch.pod("target").toString()));
    start();

    assertThat(findings()).containsExactly(Kind.EPHEMERAL_NOT_PUBLISHED);
    csi.unpublish("csi-1", scratch.pod("target"));
  }

  @Test
  void aMountOfAVolumeThatWasNeverPublishedIsReported() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    String device = device(volume.getVolumeId()).toString();
    Path somewhere = Files.createDirectory(scratch.pod("somewhere"));
    runner.run(Command.of("mkfs.ext4", "-q", "-F", device));
    runner.run(Command.of("mount", device, somewhere.toString()));
    restart();

    assertThat(driver.driver().startAudit().findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.kind()).isEqualTo(Kind.UNEXPECTED_MOUNT);
              assertThat(finding.text()).contains(somewhere.toString());
            });
    assertThatCall(() -> csi.stage(volume, scratch.pod("staging"), mount("ext4")))
        .fails(Status.Code.FAILED_PRECONDITION, "in use");
    runner.run(Command.of("umount", somewhere.toString()));
    Files.delete(somewhere);
    csi.delete(volume.getVolumeId());
  }

  @Test
  void leftoversOfAKataVolumeAfterACrashAreReportedOrRemoved() throws IOException {
    Volume volume =
        csi.create(Calls.request("kata", 64 * MIB).putParameters("kataContainers", "true"));
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    csi.stage(volume, staging, mount("ext4"));
    csi.publish(volume, staging, target, mount("ext4"));
    restart();
    assertThat(findings()).as("while a pod uses it").isEmpty();

    runner.run(Command.of("umount", target.toString()));
    restart();
    assertThat(findings()).containsExactly(Kind.LEFTOVER_LOOP);

    Path host = scratch.state().resolve("mount").resolve(volume.getVolumeId());
    Path image = host.resolve("kata-containers-pmem-csi-vm.img");
    detach(image);
    restart();
    assertThat(findings()).containsExactly(Kind.LEFTOVER_MOUNT);

    runner.run(Command.of("umount", host.toString()));
    restart();
    assertThat(driver.driver().startAudit().findings())
        .singleElement()
        .satisfies(finding -> assertThat(finding.repaired()).isTrue());
    assertThat(host).doesNotExist();
    csi.unpublish(volume.getVolumeId(), target);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.delete(staging);
  }

  @Test
  void aPendingMountRecordWithoutItsMountIsRemoved() throws IOException {
    Path target = scratch.pod("target");
    Path record =
        Files.createDirectories(scratch.state().resolve("unfinished"))
            .resolve(VolumeId.fromName(target.toString()).value());
    Files.writeString(record, target.toString());
    restart();

    assertThat(findings()).containsExactly(Kind.STALE_RECORD);
    assertThat(record).doesNotExist();
  }

  @Test
  void aDamagedPendingMountRecordIsReportedAndDoesNotPreventTheStart() throws IOException {
    Path record =
        Files.createDirectories(scratch.state().resolve("unfinished")).resolve("damaged-record");
    Files.write(record, new byte[8]);
    restart();

    assertThat(findings()).containsExactly(Kind.LEFTOVER_FILE);
    assertThat(record).exists();
    Files.delete(record);
  }
}
