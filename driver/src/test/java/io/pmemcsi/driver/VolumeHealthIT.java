package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.NodeGetVolumeStatsResponse;
import csi.v1.Volume;
import csi.v1.VolumeUsage;
import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.linux.exec.Command;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Problems of the real kernel with volumes, and where they are reported. */
class VolumeHealthIT extends DriverPerTest {

  @Test
  void aFilesystemThatAnErrorMadeReadOnlyIsReportedUntilItIsMountedAgain() throws IOException {
    Volume volume = csi.create("pvc", 32 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4", "errors=remount-ro"));
    assertThat(stats(volume).getVolumeCondition().getAbnormal()).isFalse();

    Path loop = device(volume.getVolumeId()).getFileName();
    Files.writeString(
        Path.of("/sys/fs/ext4").resolve(loop).resolve("trigger_fs_error"), "of the test");

    assertAbnormal(volume, "became read-only");
    assertReported(volume, Kind.READ_ONLY_FILESYSTEM);
    csi.unstage(volume.getVolumeId(), staging);
    csi.stage(volume, staging, mount("ext4"));
    assertThat(stats(volume).getVolumeCondition().getAbnormal()).isFalse();
    assertNothingReported(volume);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aVolumeThatIsPublishedReadOnlyIsNotAbnormal() {
    Volume volume = csi.create("pvc", 32 * MIB);
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    csi.publish(
        Calls.publication(volume, scratch.pod("staging"), scratch.pod("target"), mount("ext4"))
            .setReadonly(true));

    assertThat(stats(volume, scratch.pod("target")).getVolumeCondition().getAbnormal()).isFalse();
    csi.unpublish(volume.getVolumeId(), scratch.pod("target"));
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.stage(volume, scratch.pod("staging"), mount("ext4", "ro"));
    assertThat(stats(volume).getVolumeCondition().getAbnormal()).isFalse();
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aFilesystemThatWasShutDownIsReported() throws IOException {
    Volume volume = csi.create("pvc", 320 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("xfs"));

    runner.run(Command.of("xfs_io", "-x", "-c", "shutdown", staging.toString()));

    assertAbnormal(volume, "fails each access");
    assertReported(volume, Kind.SHUT_DOWN_FILESYSTEM);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aVolumeWhoseDeviceVanishedIsReportedWithItsUsage() throws IOException {
    Volume volume = csi.create("pvc", 32 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4"));
    Path file = image(volume.getVolumeId());
    Path elsewhere = scratch.directory().resolve("elsewhere");
    Files.move(file, elsewhere);

    assertAbnormal(volume, "its device has vanished");
    assertReported(volume, Kind.RECORD_WITHOUT_DEVICE);
    Files.move(elsewhere, file);
    assertThat(stats(volume).getVolumeCondition().getAbnormal()).isFalse();
    assertNothingReported(volume);
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
  }

  private void assertAbnormal(Volume volume, String message) {
    NodeGetVolumeStatsResponse stats = stats(volume);
    assertThat(stats.getVolumeCondition().getAbnormal()).isTrue();
    assertThat(stats.getVolumeCondition().getMessage()).contains(message, "the kernel log");
    // kubelet ignores a condition without a usage
    assertThat(stats.getUsageList())
        .isNotEmpty()
        .extracting(VolumeUsage::getTotal)
        .allMatch(total -> total > 0);
  }

  private void assertReported(Volume volume, Kind kind) throws IOException {
    assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.directory())).findings())
        .extracting(Finding::kind, Finding::subject)
        .contains(tuple(kind, volume.getVolumeId()));
    audit();
    assertThat(metrics())
        .contains(
            "pmem_csi_volume_abnormal{kind=\"%s\",volume=\"%s\"} 1"
                .formatted(kind.text(), volume.getVolumeId()))
        .contains("pmem_csi_audit_findings{kind=\"%s\"} 1".formatted(kind.text()));
  }

  private void assertNothingReported(Volume volume) throws IOException {
    audit();
    assertThat(metrics()).doesNotContain("volume=\"" + volume.getVolumeId());
  }

  /** A finding counts once two audits in a row report it. */
  private void audit() {
    driver.driver().auditNow();
    driver.driver().auditNow();
  }

  private NodeGetVolumeStatsResponse stats(Volume volume) {
    return stats(volume, scratch.pod("staging"));
  }

  private NodeGetVolumeStatsResponse stats(Volume volume, Path path) {
    return driver
        .node()
        .nodeGetVolumeStats(
            NodeGetVolumeStatsRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(path.toString())
                .build());
  }

  private String metrics() throws IOException {
    int port = driver.driver().metricsPort().orElseThrow();
    URI address = URI.create("http://127.0.0.1:%d/metrics".formatted(port));
    try (var in = address.toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
