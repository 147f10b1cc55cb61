package io.pmemcsi.driver.guest;

import static io.pmemcsi.driver.guest.DriverInGuest.MIB;
import static io.pmemcsi.driver.guest.DriverInGuest.QUICK;
import static io.pmemcsi.driver.guest.DriverInGuest.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CapacityRange;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetSnapshotRequest;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListSnapshotsResponse;
import csi.v1.NodeStageVolumeRequest;
import csi.v1.Snapshot;
import csi.v1.TopologyRequirement;
import csi.v1.Volume;
import csi.v1.VolumeContentSource;
import io.grpc.Status;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Requirements of the CSI specification for snapshots and for volumes with a content source, in
 * device modes with real memory; {@code SnapshotConformanceIT} has them for mode file.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SnapshotsInGuest {
  private static final String UNKNOWN = "pvc-00-000000000000";

  private final PmemGuest guest;
  private final GuestDriver driver;

  SnapshotsInGuest(PmemGuest guest, String mode) {
    this.guest = guest;
    GuestDriver.cleanUp(guest);
    this.driver = GuestDriver.start(guest, mode, 50);
  }

  @AfterEach
  void deleteEverything() {
    list(ListSnapshotsRequest.newBuilder())
        .getEntriesList()
        .forEach(entry -> driver.delete(entry.getSnapshot()));
    driver.list().forEach(this::delete);
    driver.assertNothingLeft();
  }

  @AfterAll
  void stop() {
    driver.close();
    GuestDriver.cleanUp(guest);
  }

  @Test
  void aSnapshotIsIdentifiedByNameAndSource() {
    Volume volume = driver.create("pvc", 16 * MIB, QUICK);
    Volume other = driver.create("other", 16 * MIB, QUICK);

    Snapshot snapshot = driver.snapshot("snap", volume);

    assertThat(snapshot.getSourceVolumeId()).isEqualTo(volume.getVolumeId());
    assertThat(snapshot.getSizeBytes()).isEqualTo(volume.getCapacityBytes());
    assertThat(snapshot.getReadyToUse()).isTrue();
    assertThat(snapshot.getCreationTime().getSeconds()).isPositive();
    assertThat(driver.snapshot("snap", volume)).isEqualTo(snapshot);
    assertRefused(Status.Code.ALREADY_EXISTS, () -> driver.snapshot("snap", other));
    assertRefused(Status.Code.INVALID_ARGUMENT, () -> driver.snapshot("", volume));
    assertRefused(Status.Code.NOT_FOUND, () -> driver.snapshot("snap-2", unknown()));
    assertRefused(
        Status.Code.INVALID_ARGUMENT, () -> driver.snapshot("snap-2", Volume.getDefaultInstance()));
    driver.delete(snapshot);
    driver.delete(snapshot);
    assertRefused(Status.Code.INVALID_ARGUMENT, () -> driver.delete(Snapshot.getDefaultInstance()));
  }

  @Test
  void snapshotsAreListedByIdBySourceAndInPages() {
    Volume volume = driver.create("pvc", 16 * MIB, QUICK);
    Volume other = driver.create("other", 16 * MIB, QUICK);
    Snapshot first = driver.snapshot("snap-1", volume);
    Snapshot second = driver.snapshot("snap-2", other);

    ListSnapshotsResponse page = list(ListSnapshotsRequest.newBuilder().setMaxEntries(1));
    ListSnapshotsResponse rest =
        list(ListSnapshotsRequest.newBuilder().setStartingToken(page.getNextToken()));

    assertThat(List.of(page.getEntries(0).getSnapshot(), rest.getEntries(0).getSnapshot()))
        .containsExactlyInAnyOrder(first, second);
    assertThat(rest.getNextToken()).isEmpty();
    assertThat(
            list(ListSnapshotsRequest.newBuilder().setSourceVolumeId(other.getVolumeId()))
                .getEntriesList())
        .extracting(ListSnapshotsResponse.Entry::getSnapshot)
        .containsExactly(second);
    assertThat(
            list(ListSnapshotsRequest.newBuilder().setSnapshotId(first.getSnapshotId()))
                .getEntriesList())
        .extracting(ListSnapshotsResponse.Entry::getSnapshot)
        .containsExactly(first);
    assertThat(list(ListSnapshotsRequest.newBuilder().setSnapshotId(UNKNOWN)).getEntriesList())
        .isEmpty();
    assertThat(get(first.getSnapshotId())).isEqualTo(first);
    assertRefused(Status.Code.NOT_FOUND, () -> get(UNKNOWN));
    assertRefused(
        Status.Code.ABORTED, () -> list(ListSnapshotsRequest.newBuilder().setStartingToken("x")));
  }

  @Test
  void aSnapshotIsNotAVolumeAndOutlivesIts() {
    Volume volume = driver.create("pvc", 16 * MIB, QUICK);
    Snapshot snapshot = driver.snapshot("snap", volume);

    assertThat(driver.list()).containsExactly(volume.getVolumeId());
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> delete(snapshot.getSnapshotId()));
    assertRefused(
        Status.Code.NOT_FOUND,
        () ->
            driver
                .node()
                .nodeStageVolume(
                    NodeStageVolumeRequest.newBuilder()
                        .setVolumeId(snapshot.getSnapshotId())
                        .setStagingTargetPath(GuestDriver.PODS + "snapshot")
                        .setVolumeCapability(GuestDriver.mount("ext4"))
                        .build()));
    driver
        .controller()
        .deleteSnapshot(
            DeleteSnapshotRequest.newBuilder().setSnapshotId(volume.getVolumeId()).build());
    assertThat(driver.list()).containsExactly(volume.getVolumeId());
    driver.delete(volume);
    Volume restored = driver.restore("restored", snapshot, QUICK);
    assertThat(restored.getContentSource().getSnapshot().getSnapshotId())
        .isEqualTo(snapshot.getSnapshotId());
    driver.delete(snapshot);
    assertThat(driver.restore("restored", snapshot, QUICK)).isEqualTo(restored);
  }

  @ParameterizedTest
  @CsvSource({"ext4, 64", "xfs, 320"})
  void aCloneOfAMountedVolumeHasItsContentAndAUuidOfItsOwn(String type, long mib) {
    Volume volume = driver.create("pvc", mib * MIB, QUICK);
    String directory = driver.mount(volume, type);
    guest.run("echo before > %s/file".formatted(directory));

    Volume clone = driver.clone("clone", volume, QUICK);
    guest.run("echo after > %s/file".formatted(directory));
    String copy = driver.mount(clone, type);

    assertThat(guest.run("cat %s/file".formatted(copy))).isEqualTo("before");
    assertThat(driver.hasDax(copy)).isTrue();
    assertThat(uuid(copy)).isNotEqualTo(uuid(directory));
    assertThat(clone.getContentSource().getVolume().getVolumeId()).isEqualTo(volume.getVolumeId());
    assertThat(driver.clone("clone", volume, QUICK)).isEqualTo(clone);
    driver.unmount(clone);
    driver.unmount(volume);
    // the copy is never formatted again
    assertThat(guest.run("cat %s/file".formatted(driver.mount(clone, type)))).isEqualTo("before");
    driver.unmount(clone);
  }

  @Test
  void aCopyHasTheRightSizeAndSourceOrNothingIsLeft() {
    Volume volume = driver.create("pvc", 64 * MIB, QUICK);
    driver.create("blank", 64 * MIB, QUICK);

    assertThat(copyOf(volume, "larger", 128 * MIB).getCapacityBytes())
        .isGreaterThanOrEqualTo(128 * MIB);
    assertRefused(Status.Code.OUT_OF_RANGE, () -> copyOf(volume, "smaller", 16 * MIB));
    assertRefused(Status.Code.ALREADY_EXISTS, () -> driver.clone("blank", volume, QUICK));
    assertRefused(Status.Code.NOT_FOUND, () -> driver.clone("x", unknown(), QUICK));
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        () -> driver.clone("x", volume, Map.of("kataContainers", "true")));
    Volume large =
        driver.create("large", driver.capacity().getMaximumVolumeSize().getValue(), QUICK);
    Volume second =
        driver.create("second", driver.capacity().getMaximumVolumeSize().getValue(), QUICK);
    assertRefused(Status.Code.RESOURCE_EXHAUSTED, () -> driver.snapshot("snap", large));
    assertThat(list(ListSnapshotsRequest.newBuilder()).getEntriesList()).isEmpty();
    assertThat(driver.list()).hasSize(5).contains(second.getVolumeId());
  }

  @Test
  void aRawBlockVolumeIsCopiedOnlyWhileItIsNotPublished() {
    Volume volume = driver.create("pvc", 16 * MIB, QUICK);
    String device = driver.publishBlock(volume);
    guest.run("printf raw | dd of=%s conv=notrunc,fsync".formatted(device));

    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.snapshot("snap", volume));
    driver.unpublish(volume.getVolumeId(), device);
    Volume copy = driver.restore("copy", driver.snapshot("snap", volume), QUICK);

    String copied = driver.publishBlock(copy);
    assertThat(guest.run("head -c 3 " + copied)).isEqualTo("raw");
    driver.unpublish(copy.getVolumeId(), copied);
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.mount(copy, "ext4"));
  }

  /** As a power failure leaves it. */
  @ParameterizedTest
  @CsvSource({"ext4, 64", "xfs, 320"})
  void aLargerCopyOfAFilesystemWithALogToReplayIsExpanded(String type, long mib) {
    Volume volume = driver.create("pvc", mib * MIB, QUICK);
    String directory = driver.mount(volume, type);
    guest.run(
        "echo kept > %1$s/file; sync; mkdir %1$s/late; xfs_io -x -c 'shutdown -f' %1$s"
            .formatted(directory));
    driver.unmount(volume);

    Volume copy = copyOf(volume, "copy", 2 * mib * MIB);
    String larger = driver.mount(copy, type);

    assertThat(guest.run("cat %s/file".formatted(larger))).isEqualTo("kept");
    assertThat(
            Long.parseLong(
                guest.run("df -B1 --output=size %s | tail -1".formatted(larger)).strip()))
        .isGreaterThan(mib * MIB);
    driver.unmount(copy);
  }

  @Test
  void namesParametersAndSourcesAreChecked() {
    Volume volume = driver.create("pvc", 16 * MIB, QUICK);
    Snapshot sameName = driver.snapshot("pvc", volume);
    assertThat(sameName.getSnapshotId()).isNotEqualTo(volume.getVolumeId());
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        () ->
            driver
                .controller()
                .createSnapshot(
                    CreateSnapshotRequest.newBuilder()
                        .setName("snap")
                        .setSourceVolumeId(volume.getVolumeId())
                        .putParameters("speed", "fast")
                        .build()));
    assertRefused(
        Status.Code.RESOURCE_EXHAUSTED,
        () ->
            driver
                .controller()
                .createVolume(
                    copyRequest(unknown(), "elsewhere", 16 * MIB)
                        .setAccessibilityRequirements(
                            TopologyRequirement.newBuilder()
                                .addRequisite(volume.getAccessibleTopology(0)))
                        .build()));
    Volume kata = driver.create("kata", 64 * MIB, Map.of("kataContainers", "true"));
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.snapshot("snap", kata));
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.clone("clone", kata, QUICK));
  }

  private String uuid(String directory) {
    return guest.run(
        "blkid -p -o value -s UUID $(findmnt --noheadings --output SOURCE %s)"
            .formatted(directory));
  }

  private Volume copyOf(Volume volume, String name, long bytes) {
    return driver.controller().createVolume(copyRequest(volume, name, bytes).build()).getVolume();
  }

  private static CreateVolumeRequest.Builder copyRequest(Volume volume, String name, long bytes) {
    return CreateVolumeRequest.newBuilder()
        .setName(name)
        .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(bytes))
        .addVolumeCapabilities(GuestDriver.mount(""))
        .putAllParameters(QUICK)
        .setVolumeContentSource(
            VolumeContentSource.newBuilder()
                .setVolume(
                    VolumeContentSource.VolumeSource.newBuilder()
                        .setVolumeId(volume.getVolumeId())));
  }

  private Snapshot get(String id) {
    return driver
        .controller()
        .getSnapshot(GetSnapshotRequest.newBuilder().setSnapshotId(id).build())
        .getSnapshot();
  }

  private ListSnapshotsResponse list(ListSnapshotsRequest.Builder request) {
    return driver.controller().listSnapshots(request.build());
  }

  private void delete(String volumeId) {
    driver
        .controller()
        .deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(volumeId).build());
  }

  private static Volume unknown() {
    return Volume.newBuilder().setVolumeId(UNKNOWN).build();
  }
}
