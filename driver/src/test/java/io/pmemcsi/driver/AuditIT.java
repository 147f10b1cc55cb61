package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** How the driver handles contradictions between ledger and devices. */
class AuditIT extends DriverPerTest {

  @Test
  void aDamagedEntryBlocksItsVolumeOnlyAndIsReported() throws IOException {
    Volume damaged = csi.create("pvc-1", 16 * MIB);
    Volume fine = csi.create("pvc-2", 16 * MIB);
    driver.close();
    Path entry = scratch.state().resolve(damaged.getVolumeId() + ".json");
    String content = Files.readString(entry);
    Files.writeString(entry, content.substring(0, 20));
    start();

    assertThat(findings()).containsExactly(Kind.DAMAGED_RECORD);
    assertThatCall(() -> csi.create("pvc-1", 16 * MIB))
        .fails(Status.Code.FAILED_PRECONDITION, entry.toString());
    assertThatCall(() -> csi.delete(damaged.getVolumeId()))
        .fails(Status.Code.FAILED_PRECONDITION, "damaged");
    assertThatCall(() -> csi.stage(damaged, scratch.pod("staging"), mount("")))
        .fails(Status.Code.FAILED_PRECONDITION, "damaged");
    csi.unstage(damaged.getVolumeId(), scratch.pod("staging"));
    csi.unpublish(damaged.getVolumeId(), scratch.pod("target"));
    csi.delete(fine.getVolumeId());
    assertThat(entry).hasContent(content.substring(0, 20));

    Files.writeString(entry, content);
    restart();
    csi.delete(damaged.getVolumeId());
  }

  /** Larger than the heap of a driver on a node. */
  @Test
  void aHugeFileInTheStateDirectoryIsReportedByNameAndNotRead() throws IOException {
    driver.close();
    Path huge = scratch.state().resolve(VolumeId.fromName("huge") + ".json");
    runner.run(Command.of("truncate", "--size=100M", huge.toString()));
    start();

    assertThat(driver.driver().startAudit().findings())
        .singleElement()
        .satisfies(finding -> assertThat(finding.kind()).isEqualTo(Kind.DAMAGED_RECORD))
        .satisfies(
            finding ->
                assertThat(finding.toString())
                    .contains(huge.toString())
                    .contains(
                        "it has 104857600 bytes, more than any file that this driver writes"));
    Files.delete(huge);
  }

  @Test
  void aDeviceWithoutALedgerEntryIsReportedAndKept() throws IOException {
    VolumeId id = VolumeId.fromName("stranger");
    Files.createDirectories(image(id.value()).getParent());
    Files.write(image(id.value()), new byte[1 << 20]);
    restart();

    assertThat(findings()).containsExactly(Kind.DEVICE_WITHOUT_RECORD);
    assertThatCall(() -> csi.delete(id.value()))
        .fails(Status.Code.FAILED_PRECONDITION, "did not create it");
    assertThatCall(() -> csi.create("stranger", MIB))
        .fails(Status.Code.INTERNAL, "it is not touched");
    assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.directory())).toString())
        .contains("device-without-record")
        .contains(id.value());
    assertThat(image(id.value())).exists();
    assertThat(new LoopDevices(new KernelLoops()).of(image(id.value()))).isEmpty();

    Files.delete(image(id.value()));
  }

  @Test
  void aVolumeWithoutItsDeviceIsReportedAndKept() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    detach(volume.getVolumeId());
    Files.delete(image(volume.getVolumeId()));
    start();

    assertThat(findings()).containsExactly(Kind.RECORD_WITHOUT_DEVICE);
    assertThatCall(() -> csi.stage(volume, scratch.pod("staging"), mount("")))
        .fails(Status.Code.NOT_FOUND, "its device is not found");
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aDeviceThatIsSmallerThanRecordedIsReported() {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.resize(ledger.find(new VolumeId(volume.getVolumeId())).orElseThrow(), 32 * MIB);
    start();

    assertThat(driver.driver().startAudit().findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.kind()).isEqualTo(Kind.DEVICE_TOO_SMALL);
              assertThat(finding.text()).contains("33554432").contains("16777216");
            });
    csi.delete(volume.getVolumeId());
  }

  @Test
  void anInterruptedDeletionIsReportedAndCanBeFinished() {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.setState(
        ledger.find(new VolumeId(volume.getVolumeId())).orElseThrow(), new VolumeState.Deleting());
    start();

    assertThat(findings()).containsExactly(Kind.UNFINISHED_DELETE);
    assertThatCall(() -> csi.create("pvc-1", 16 * MIB))
        .fails(Status.Code.ABORTED, "call DeleteVolume again");
    assertThatCall(() -> csi.stage(volume, scratch.pod("staging"), mount("")))
        .fails(Status.Code.FAILED_PRECONDITION, "is being deleted");
    csi.delete(volume.getVolumeId());
  }

  @Test
  void recordsOfVolumesThatWereNeverCreatedAreRemoved() throws IOException {
    driver.close();
    Files.writeString(
        scratch.state().resolve("contents").resolve(VolumeId.fromName("pvc-1") + ".json"),
        "{\"state\":\"creating\"}");
    start();

    assertThat(findings()).containsExactly(Kind.STALE_RECORD);
    restart();
    assertThat(findings()).isEmpty();
  }

  @Test
  void aVolumeOfAnUnavailableDeviceModeIsReportedAndOthersAreServed() {
    Volume fine = csi.create("pvc-1", 16 * MIB);
    VolumeId other = VolumeId.fromName("pvc-2");
    driver.close();
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.add(
        new VolumeRecord(
            other,
            16 * MIB,
            VolumeParameters.DEFAULTS.named("pvc-2", DeviceMode.LVM),
            VolumeState.Blank.wiped()));

    start();

    assertThat(driver.driver().startAudit().findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.subject()).isEqualTo(other.value());
              assertThat(finding.kind()).isEqualTo(Kind.MODE_UNAVAILABLE);
              assertThat(finding.text()).contains("lvm").contains("no tool for it");
            });
    assertThatCall(() -> csi.delete(other.value())).fails(Status.Code.INTERNAL, "no tool for it");
    csi.delete(fine.getVolumeId());
    driver.close();
    Ledger.open(scratch.state(), new DurableFiles()).remove(other);
    start();
  }
}
