package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import csi.v1.GetCapacityRequest;
import csi.v1.ListVolumesRequest;
import csi.v1.Volume;
import io.grpc.Status;
import io.pmemcsi.driver.command.Command;
import io.pmemcsi.driver.lifecycle.AuditReport.Finding;
import io.pmemcsi.driver.lifecycle.AuditReport.Kind;
import io.pmemcsi.driver.loop.LoopDevices;
import io.pmemcsi.driver.volume.Contents;
import io.pmemcsi.driver.volume.DeviceMode;
import io.pmemcsi.driver.volume.DurableFiles;
import io.pmemcsi.driver.volume.Ledger;
import io.pmemcsi.driver.volume.LedgerEntry;
import io.pmemcsi.driver.volume.StateLock;
import io.pmemcsi.driver.volume.VolumeId;
import io.pmemcsi.driver.volume.VolumeParameters;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Ledger, devices and mounts that disagree, and what the driver makes of it. */
class StateIT extends OwnDriver {

  private List<Kind> findings() {
    return driver.driver().startAudit().findings().stream().map(Finding::kind).toList();
  }

  @Test
  void volumesAndCapacityAreTheSameAfterARestart() {
    Volume volume = csi.create("pvc-1", 100 * MIB);
    long free = free();

    restart();

    assertThat(free()).isEqualTo(free).isEqualTo(FileModeDriver.POOL - 100 * MIB);
    assertThat(
            driver
                .controller()
                .listVolumes(ListVolumesRequest.getDefaultInstance())
                .getEntriesList())
        .extracting(entry -> entry.getVolume().getVolumeId())
        .containsExactly(volume.getVolumeId());
    assertThat(csi.create("pvc-1", 100 * MIB)).isEqualTo(volume);
    assertThat(findings()).isEmpty();
    csi.delete(volume.getVolumeId());
    assertThat(free()).isEqualTo(FileModeDriver.POOL);
  }

  private long free() {
    return driver
        .controller()
        .getCapacity(GetCapacityRequest.getDefaultInstance())
        .getAvailableCapacity();
  }

  @Test
  void aDeviceAfterARebootIsAttachedAgain() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    csi.stage(volume, scratch.pod("staging"), mount("ext4"));
    Files.writeString(scratch.pod("staging").resolve("data"), "kept");
    // what a reboot does: no mounts, no loop devices, the files stay
    driver.close();
    runner.run(Command.of("umount", scratch.pod("staging").toString()));
    detach(volume.getVolumeId());
    start();

    csi.stage(volume, scratch.pod("staging"), mount("ext4"));

    assertThat(scratch.pod("staging").resolve("data")).hasContent("kept");
    csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
    csi.delete(volume.getVolumeId());
    Files.delete(scratch.pod("staging"));
  }

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

  @Test
  void aDeviceThatTheLedgerDoesNotKnowIsReportedAndLeftAlone() throws IOException {
    VolumeId id = VolumeId.fromName("stranger");
    Files.createDirectories(image(id.value()).getParent());
    Files.write(image(id.value()), new byte[1 << 20]);
    restart();

    assertThat(findings()).containsExactly(Kind.DEVICE_WITHOUT_RECORD);
    assertThatCall(() -> csi.delete(id.value()))
        .fails(Status.Code.FAILED_PRECONDITION, "did not make it");
    assertThatCall(() -> csi.create("stranger", MIB)).fails(Status.Code.INTERNAL, "left alone");
    assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.folder())).toString())
        .contains("device-without-record")
        .contains(id.value());
    assertThat(image(id.value())).exists();
    assertThat(new LoopDevices(runner).of(image(id.value()))).isEmpty();

    Files.delete(image(id.value()));
  }

  /** The kernel tells of mounts and loop devices by their real paths. */
  @Test
  void aSecondDriverIsKeptAwayFromTheStateFolderAsLongAsThereIsOne() {
    assertThatThrownBy(() -> StateLock.take(scratch.state(), Duration.ZERO))
        .hasMessageContaining("another driver uses the state folder " + scratch.state());

    driver.close();
    StateLock.take(scratch.state(), Duration.ZERO).close();
    start();
  }

  @Test
  void theStateFolderMayBeBehindASymbolicLink() throws IOException {
    driver.close();
    Path link = Files.createSymbolicLink(scratch.folder().resolve("link"), scratch.folder());
    DriverSettings settings = FileModeDriver.settings(link);
    Path target = scratch.pod("target");
    Path staging = scratch.pod("staging");

    try (NodeDriver _ = NodeDriver.start(settings);
        FileModeDriver client = FileModeDriver.elsewhere(link)) {
      Calls linked = new Calls(client);
      Volume volume =
          linked.create(Calls.request("kata", 64 * MIB).putParameters("kataContainers", "true"));
      linked.stage(volume, staging, mount("ext4"));
      linked.publish(volume, staging, target, mount("ext4"));
      linked.publish(volume, staging, target, mount("ext4"));

      assertThat(NodeDriver.audit(settings).findings()).isEmpty();
      // staged, shown to the pod, and once in between
      assertThat(scratch.mounts()).hasSize(3);
      linked.unpublish(volume.getVolumeId(), target);
      linked.unstage(volume.getVolumeId(), staging);
      linked.delete(volume.getVolumeId());
    }
    Files.delete(staging);
    Files.delete(link);
    start();
  }

  @Test
  void aVolumeOfAModeThatCannotBeUsedIsReportedAndTheOthersAreServed() {
    Volume fine = csi.create("pvc-1", 16 * MIB);
    VolumeId other = VolumeId.fromName("pvc-2");
    driver.close();
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.write(other, Contents.Blank.wiped());
    ledger.write(
        new LedgerEntry(other, 16 * MIB, VolumeParameters.DEFAULTS.named("pvc-2", DeviceMode.LVM)));

    start();

    assertThat(driver.driver().startAudit().findings())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.volume()).isEqualTo(other);
              assertThat(finding.kind()).isEqualTo(Kind.MODE_UNAVAILABLE);
              assertThat(finding.text()).contains("lvm").contains("no tool for it");
            });
    assertThatCall(() -> csi.delete(other.value())).fails(Status.Code.INTERNAL, "no tool for it");
    csi.delete(fine.getVolumeId());
    driver.close();
    Ledger.open(scratch.state(), new DurableFiles()).remove(other);
    start();
  }

  @Test
  void aDeletionThatWasInterruptedIsReportedAndCanBeFinished() {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    Ledger.open(scratch.state(), new DurableFiles())
        .write(new VolumeId(volume.getVolumeId()), new Contents.Deleting());
    start();

    assertThat(findings()).containsExactly(Kind.UNFINISHED_DELETE);
    assertThatCall(() -> csi.create("pvc-1", 16 * MIB))
        .fails(Status.Code.ABORTED, "call DeleteVolume again");
    assertThatCall(() -> csi.stage(volume, scratch.pod("staging"), mount("")))
        .fails(Status.Code.FAILED_PRECONDITION, "is being deleted");
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aDeviceThatIsSmallerThanRecordedIsReported() {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.write(ledger.find(new VolumeId(volume.getVolumeId())).orElseThrow().withSize(32 * MIB));
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
  void anEphemeralVolumeThatNoPodHasAnyMoreIsReported() {
    csi.publish(Calls.ephemeral("csi-1", scratch.pod("target"), mount(""), Map.of("size", "16Mi")));
    driver.close();
    runner.run(Command.of("umount", scratch.pod("target").toString()));
    start();

    assertThat(findings()).containsExactly(Kind.EPHEMERAL_NOT_PUBLISHED);
    csi.unpublish("csi-1", scratch.pod("target"));
  }

  @Test
  void aMountOfAVolumeThatNobodyWasGivenIsReported() throws IOException {
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
  void whatACrashLeavesOfAKataVolumeIsReportedOrRemoved() throws IOException {
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
    LoopDevices loops = new LoopDevices(runner);
    loops.of(image).forEach(loop -> loops.detach(loop.device()));
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
  void aNoteAboutAMountThatIsGoneIsRemoved() throws IOException {
    Path target = scratch.pod("target");
    Path note =
        Files.createDirectories(scratch.state().resolve("unfinished"))
            .resolve(VolumeId.fromName(target.toString()).value());
    Files.writeString(note, target.toString());
    restart();

    assertThat(findings()).containsExactly(Kind.STALE_RECORD);
    assertThat(note).doesNotExist();
  }

  @Test
  void aDamagedNoteDoesNotKeepTheDriverFromStarting() throws IOException {
    Path note =
        Files.createDirectories(scratch.state().resolve("unfinished")).resolve("damaged-note");
    Files.write(note, new byte[8]);
    restart();

    assertThat(findings()).isEmpty();
    assertThat(note).exists();
    Files.delete(note);
  }

  @Test
  void theMetricFollowsWhatIsFoundAndResolvedWhileTheDriverRuns() throws Exception {
    Path stray = image(VolumeId.fromName("stranger").value());
    Files.createDirectories(stray.getParent());
    Files.write(stray, new byte[1 << 20]);
    restart();
    String strays = "pmem_csi_audit_findings{kind=\"device-without-record\"} ";
    assertThat(metrics()).contains(strays + 1);

    Files.delete(stray);
    driver.driver().lookAgain();
    assertThat(metrics()).contains(strays + 0);

    Files.write(stray, new byte[1 << 20]);
    driver.driver().lookAgain();
    assertThat(metrics()).as("it may be a call at work").contains(strays + 0);
    driver.driver().lookAgain();
    assertThat(metrics()).contains(strays + 1);
    Files.delete(stray);
  }

  private String metrics() throws Exception {
    URI address =
        URI.create(
            "http://127.0.0.1:%d/metrics".formatted(driver.driver().metricsPort().orElseThrow()));
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  @Test
  void aVolumeWhoseDeviceIsGoneIsReportedAndKept() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    driver.close();
    detach(volume.getVolumeId());
    Files.delete(image(volume.getVolumeId()));
    start();

    assertThat(findings()).containsExactly(Kind.RECORD_WITHOUT_DEVICE);
    assertThatCall(() -> csi.stage(volume, scratch.pod("staging"), mount("")))
        .fails(Status.Code.NOT_FOUND, "gone");
    csi.delete(volume.getVolumeId());
  }

  @Test
  void recordsOfVolumesThatNeverWereAreRemoved() {
    driver.close();
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.write(VolumeId.fromName("pvc-1"), new Contents.Creating());
    start();

    assertThat(findings()).containsExactly(Kind.STALE_RECORD);
    restart();
    assertThat(findings()).isEmpty();
  }

  @Test
  void aVolumeInUseIsNeitherErasedNorDeleted() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4"));
    Files.writeString(staging.resolve("data"), "precious");

    assertThatCall(() -> csi.delete(volume.getVolumeId()))
        .fails(Status.Code.FAILED_PRECONDITION, "mounted at " + staging);

    assertThat(staging.resolve("data")).hasContent("precious");
    csi.unstage(volume.getVolumeId(), staging);
    csi.stage(volume, staging, mount("ext4"));
    assertThat(staging.resolve("data")).hasContent("precious");
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.delete(staging);
  }

  @Test
  void aRawBlockVolumeInUseIsNotDeleted() {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    csi.publish(volume, scratch.pod("staging"), scratch.pod("raw"), block());

    assertThatCall(() -> csi.delete(volume.getVolumeId()))
        .fails(Status.Code.FAILED_PRECONDITION, "mounted at " + scratch.pod("raw"));

    csi.unpublish(volume.getVolumeId(), scratch.pod("raw"));
    csi.delete(volume.getVolumeId());
  }

  @Test
  void aVolumeMountedByAnAdministratorIsNotDeleted() throws IOException {
    Volume volume = csi.create("pvc-1", 16 * MIB);
    Path staging = scratch.pod("staging");
    csi.stage(volume, staging, mount("ext4"));
    csi.unstage(volume.getVolumeId(), staging);
    String device = device(volume.getVolumeId()).toString();
    // in a mount namespace of its own, where no mount table of ours can see it
    Process holder =
        new ProcessBuilder(
                "unshare",
                "-m",
                "sh",
                "-c",
                "mount " + device + " " + staging + " && echo up && exec sleep 600")
            .start();
    try {
      assertThat(holder.inputReader().readLine()).isEqualTo("up");

      assertThatCall(() -> csi.delete(volume.getVolumeId()))
          .fails(Status.Code.FAILED_PRECONDITION, "in use");
    } finally {
      holder.destroyForcibly().onExit().join();
    }
    csi.stage(volume, staging, mount("ext4"));
    csi.unstage(volume.getVolumeId(), staging);
    csi.delete(volume.getVolumeId());
    Files.delete(staging);
  }

  @Test
  void unmountingTouchesOnlyTheOwnVolume() throws IOException {
    Volume one = csi.create("pvc-1", 16 * MIB);
    Volume two = csi.create("pvc-2", 16 * MIB);
    Volume kata =
        csi.create(Calls.request("pvc-3", 16 * MIB).putParameters("kataContainers", "true"));
    csi.stage(one, scratch.pod("one"), mount("ext4"));

    assertThatCall(() -> csi.unpublish(kata.getVolumeId(), scratch.pod("one")))
        .fails(Status.Code.FAILED_PRECONDITION, "is not this volume");
    assertThatCall(() -> csi.unstage(two.getVolumeId(), scratch.pod("one")))
        .fails(Status.Code.FAILED_PRECONDITION, "is not this volume");
    assertThatCall(() -> csi.unpublish(two.getVolumeId(), scratch.pod("one")))
        .fails(Status.Code.FAILED_PRECONDITION, "is not this volume");
    assertThatCall(() -> csi.stage(two, scratch.pod("one"), mount("ext4")))
        .fails(Status.Code.ALREADY_EXISTS, "something else is mounted");

    csi.unstage(one.getVolumeId(), scratch.pod("one"));
    csi.delete(one.getVolumeId());
    csi.delete(two.getVolumeId());
    csi.delete(kata.getVolumeId());
    Files.delete(scratch.pod("one"));
  }

  @Test
  void theIdOfAPersistentVolumeIsNoHandleForAnEphemeralOne() {
    Volume volume = csi.create("pvc-1", 16 * MIB);

    assertThatCall(
            () ->
                csi.publish(
                    Calls.ephemeral(
                        volume.getVolumeId(),
                        scratch.pod("target"),
                        mount(""),
                        Map.of("size", "16Mi"))))
        .fails(Status.Code.ALREADY_EXISTS, "is that of a persistent volume");

    csi.delete(volume.getVolumeId());
  }

  @Test
  void anEphemeralVolumeAndAPersistentOneCannotShareAName() {
    csi.create("same", 16 * MIB);

    assertThatCall(
            () ->
                csi.publish(
                    Calls.ephemeral(
                        "same", scratch.pod("target"), mount(""), Map.of("size", "16Mi"))))
        .fails(Status.Code.ALREADY_EXISTS);

    csi.deleteByName("same");
  }

  @Test
  void aFailedEphemeralPublicationLeavesNothing() {
    assertThatCall(
            () ->
                csi.publish(
                    Calls.ephemeral(
                        "csi-x",
                        scratch.pod("target"),
                        mount("ext4", "no-such-option"),
                        Map.of("size", "16Mi"))))
        .fails(Status.Code.INTERNAL, "no-such-option");
  }

  @Test
  void theNameOfAVolumeIsNotItsId() {
    csi.create("pvc-1", 16 * MIB);

    csi.delete("pvc-1");
    assertThatCall(() -> csi.expand("pvc-1", 32 * MIB)).fails(Status.Code.NOT_FOUND, "pvc-1");

    assertThat(
            driver
                .controller()
                .listVolumes(ListVolumesRequest.getDefaultInstance())
                .getEntriesCount())
        .isEqualTo(1);
    csi.deleteByName("pvc-1");
  }

  @Test
  void volumesThatDoNotFitAreRefusedWithoutATrace() {
    assertThatCall(() -> csi.create("huge", 1L << 50))
        .fails(Status.Code.RESOURCE_EXHAUSTED, "not enough space for 1125899906842624 bytes");
    assertThatCall(() -> csi.create("huge", Long.MAX_VALUE)).fails(Status.Code.RESOURCE_EXHAUSTED);
  }
}
