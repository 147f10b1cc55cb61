package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateVolumeRequest;
import csi.v1.GetSnapshotRequest;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListSnapshotsResponse;
import csi.v1.Snapshot;
import csi.v1.Topology;
import csi.v1.Volume;
import csi.v1.VolumeContentSource;
import io.grpc.Status.Code;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requirements of the CSI specification for snapshots, and for volumes with a content source. */
class SnapshotConformanceIT extends SharedDriver {

  @AfterEach
  void deleteSnapshots() {
    listSnapshots(ListSnapshotsRequest.newBuilder())
        .getEntriesList()
        .forEach(entry -> csi.deleteSnapshot(entry.getSnapshot().getSnapshotId()));
  }

  private ListSnapshotsResponse listSnapshots(ListSnapshotsRequest.Builder request) {
    return driver.controller().listSnapshots(request.build());
  }

  private static List<String> ids(ListSnapshotsResponse page) {
    return page.getEntriesList().stream().map(e -> e.getSnapshot().getSnapshotId()).toList();
  }

  private static CreateVolumeRequest.Builder fromSnapshot(String name, long bytes, String id) {
    return request(name, bytes)
        .setVolumeContentSource(
            VolumeContentSource.newBuilder()
                .setSnapshot(VolumeContentSource.SnapshotSource.newBuilder().setSnapshotId(id)));
  }

  private static CreateVolumeRequest.Builder fromVolume(String name, long bytes, String id) {
    return request(name, bytes)
        .setVolumeContentSource(
            VolumeContentSource.newBuilder()
                .setVolume(VolumeContentSource.VolumeSource.newBuilder().setVolumeId(id)));
  }

  @Test
  void nameAndSourceAreRequired() {
    assertThatCall(() -> csi.snapshot("", "x")).fails(Code.INVALID_ARGUMENT, "name");
    assertThatCall(() -> csi.snapshot("snap", "")).fails(Code.INVALID_ARGUMENT, "source_volume_id");
  }

  @Test
  void unknownParametersAreInvalidAndThoseOfTheSidecarAreNot() {
    String id = csi.create("pvc", 4 * MIB).getVolumeId();
    CreateSnapshotRequest.Builder request =
        CreateSnapshotRequest.newBuilder()
            .setName("snap")
            .setSourceVolumeId(id)
            .putParameters("csi.storage.k8s.io/volumesnapshot/name", "x");

    assertThat(driver.controller().createSnapshot(request.build()).getSnapshot().getReadyToUse())
        .isTrue();
    assertThatCall(
            () -> driver.controller().createSnapshot(request.putParameters("speed", "9").build()))
        .fails(Code.INVALID_ARGUMENT, "parameters: \"speed\" with value \"9\"");
  }

  @Test
  void theSourceMustExist() {
    assertThatCall(() -> csi.snapshot("snap", UNKNOWN)).fails(Code.NOT_FOUND, UNKNOWN);
  }

  @Test
  void aSnapshotReportsItsSourceItsSizeAndWhenItWasTaken() {
    Volume volume = csi.create("pvc", 9 * MIB);
    Instant before = Instant.now();

    Snapshot snapshot = csi.snapshot("snap", volume.getVolumeId());

    assertThat(snapshot.getSourceVolumeId()).isEqualTo(volume.getVolumeId());
    assertThat(snapshot.getSizeBytes()).isEqualTo(12 * MIB);
    assertThat(snapshot.getReadyToUse()).isTrue();
    assertThat(snapshot.getCreationTime().getSeconds())
        .isBetween(before.getEpochSecond(), Instant.now().getEpochSecond());
  }

  @Test
  void theSameCallReturnsTheSameSnapshot() {
    String id = csi.create("pvc", 4 * MIB).getVolumeId();

    assertThat(csi.snapshot("snap", id)).isEqualTo(csi.snapshot("snap", id));
  }

  @Test
  void aNameOfASnapshotOfAnotherVolumeIsTaken() {
    csi.snapshot("snap", csi.create("pvc-1", 4 * MIB).getVolumeId());
    String other = csi.create("pvc-2", 4 * MIB).getVolumeId();

    assertThatCall(() -> csi.snapshot("snap", other)).fails(Code.ALREADY_EXISTS, "snap");
  }

  @Test
  void aSnapshotAndAVolumeMayHaveTheSameName() {
    Volume volume = csi.create("same", 4 * MIB);

    Snapshot snapshot = csi.snapshot("same", volume.getVolumeId());

    assertThat(snapshot.getSnapshotId()).isNotEqualTo(volume.getVolumeId());
    assertThat(csi.create("same", 4 * MIB)).isEqualTo(volume);
  }

  @Test
  void aSnapshotIsNotAVolume() {
    Volume volume = csi.create("pvc", 4 * MIB);
    String id = csi.snapshot("snap", volume.getVolumeId()).getSnapshotId();

    assertThat(list(0, "").getEntriesList())
        .extracting(entry -> entry.getVolume().getVolumeId())
        .containsExactly(volume.getVolumeId());
    assertThatCall(() -> csi.delete(id)).fails(Code.FAILED_PRECONDITION, "DeleteSnapshot");
    Volume wrong = volume.toBuilder().setVolumeId(id).build();
    assertThatCall(() -> csi.stage(wrong, staging(), mount("ext4"))).fails(Code.NOT_FOUND);
    assertThatCall(() -> csi.publish(wrong, staging(), target(), block())).fails(Code.NOT_FOUND);
    csi.deleteSnapshot(volume.getVolumeId());
    assertThat(list(0, "").getEntriesCount()).isEqualTo(1);
  }

  @Test
  void aSnapshotOutlivesItsVolume() {
    String id = csi.create("pvc", 4 * MIB).getVolumeId();
    Snapshot snapshot = csi.snapshot("snap", id);

    csi.delete(id);

    assertThat(csi.create(fromSnapshot("restored", 4 * MIB, snapshot.getSnapshotId())))
        .extracting(restored -> restored.getContentSource().getSnapshot().getSnapshotId())
        .isEqualTo(snapshot.getSnapshotId());
  }

  @Test
  void deletingAgainSucceeds() {
    String id = csi.snapshot("snap", csi.create("pvc", 4 * MIB).getVolumeId()).getSnapshotId();

    csi.deleteSnapshot(id);
    csi.deleteSnapshot(id);
    csi.deleteSnapshot("no/such/id");

    assertThatCall(() -> csi.deleteSnapshot("")).fails(Code.INVALID_ARGUMENT, "snapshot_id");
    assertThat(listSnapshots(ListSnapshotsRequest.newBuilder()).getEntriesCount()).isZero();
  }

  @Test
  void snapshotsAreListedByIdBySourceAndInPages() {
    String one = csi.create("pvc-1", 4 * MIB).getVolumeId();
    String two = csi.create("pvc-2", 4 * MIB).getVolumeId();
    Snapshot first = csi.snapshot("snap-1", one);
    csi.snapshot("snap-2", one);
    csi.snapshot("snap-3", two);
    ListSnapshotsResponse all = listSnapshots(ListSnapshotsRequest.newBuilder());

    assertThat(all.getEntriesCount()).isEqualTo(3);
    assertThat(ids(listSnapshots(ListSnapshotsRequest.newBuilder().setSourceVolumeId(one))))
        .hasSize(2);
    assertThat(
            listSnapshots(ListSnapshotsRequest.newBuilder().setSnapshotId(first.getSnapshotId())))
        .extracting(page -> page.getEntries(0).getSnapshot())
        .isEqualTo(first);
    assertThat(ids(listSnapshots(ListSnapshotsRequest.newBuilder().setSnapshotId(UNKNOWN))))
        .isEmpty();
    ListSnapshotsResponse page = listSnapshots(ListSnapshotsRequest.newBuilder().setMaxEntries(2));
    ListSnapshotsResponse rest =
        listSnapshots(ListSnapshotsRequest.newBuilder().setStartingToken(page.getNextToken()));
    assertThat(ids(page)).isEqualTo(ids(all).subList(0, 2));
    assertThat(ids(rest)).isEqualTo(ids(all).subList(2, 3));
    assertThat(rest.getNextToken()).isEmpty();
    assertThatCall(() -> listSnapshots(ListSnapshotsRequest.newBuilder().setStartingToken("x")))
        .fails(Code.ABORTED, "starting_token");
    assertThatCall(() -> listSnapshots(ListSnapshotsRequest.newBuilder().setMaxEntries(-1)))
        .fails(Code.INVALID_ARGUMENT, "max_entries");
  }

  @Test
  void oneSnapshotIsReturnedByItsId() {
    Snapshot snapshot = csi.snapshot("snap", csi.create("pvc", 4 * MIB).getVolumeId());

    assertThat(
            driver
                .controller()
                .getSnapshot(
                    GetSnapshotRequest.newBuilder().setSnapshotId(snapshot.getSnapshotId()).build())
                .getSnapshot())
        .isEqualTo(snapshot);
    assertThatCall(
            () ->
                driver
                    .controller()
                    .getSnapshot(GetSnapshotRequest.newBuilder().setSnapshotId(UNKNOWN).build()))
        .fails(Code.NOT_FOUND, UNKNOWN);
  }

  @Test
  void aVolumeReportsWhereItsContentComesFrom() {
    String id = csi.create("pvc", 4 * MIB).getVolumeId();

    Volume clone = csi.create(fromVolume("clone", 4 * MIB, id));

    assertThat(clone.getContentSource().getVolume().getVolumeId()).isEqualTo(id);
    assertThat(csi.create(fromVolume("clone", 4 * MIB, id))).isEqualTo(clone);
  }

  @Test
  void aVolumeWithAnotherContentIsNotTheRequestedOne() {
    String id = csi.create("pvc", 4 * MIB).getVolumeId();
    csi.create(fromVolume("clone", 4 * MIB, id));
    csi.create("blank", 4 * MIB);

    assertThatCall(() -> csi.create("clone", 4 * MIB)).fails(Code.ALREADY_EXISTS, "content");
    assertThatCall(() -> csi.create(fromVolume("blank", 4 * MIB, id)))
        .fails(Code.ALREADY_EXISTS, "content");
  }

  @Test
  void aVolumeIsReturnedAlsoAfterItsSourceWasDeleted() {
    String id = csi.snapshot("snap", csi.create("pvc", 4 * MIB).getVolumeId()).getSnapshotId();
    Volume restored = csi.create(fromSnapshot("restored", 4 * MIB, id));

    csi.deleteSnapshot(id);

    assertThat(csi.create(fromSnapshot("restored", 4 * MIB, id))).isEqualTo(restored);
  }

  @Test
  void aCopyIsAtLeastAsLargeAsItsSource() {
    String id = csi.create("pvc", 16 * MIB).getVolumeId();

    assertThat(csi.create(fromVolume("same", 0, id)).getCapacityBytes()).isEqualTo(16 * MIB);
    assertThat(csi.create(fromVolume("larger", 32 * MIB, id)).getCapacityBytes())
        .isEqualTo(32 * MIB);
    assertThatCall(() -> csi.create(fromVolume("smaller", 8 * MIB, id)))
        .fails(
            Code.OUT_OF_RANGE,
            "capacity_range.required_bytes 8388608 is less than the 16777216 bytes of the source "
                + id);
    CreateVolumeRequest.Builder limited = fromVolume("limited", 0, id);
    limited.getCapacityRangeBuilder().setLimitBytes(12 * MIB + 1);
    assertThatCall(() -> csi.create(limited))
        .fails(Code.OUT_OF_RANGE, "capacity_range.limit_bytes 12582913 is less than the 16777216");
    assertThat(list(0, "").getEntriesCount()).isEqualTo(3);
  }

  @Test
  void theSourceOfAVolumeMustExist() {
    String id = csi.create("pvc", 4 * MIB).getVolumeId();

    assertThatCall(() -> csi.create(fromSnapshot("x", MIB, UNKNOWN)))
        .fails(Code.NOT_FOUND, "volume_content_source: snapshot \"" + UNKNOWN);
    assertThatCall(() -> csi.create(fromVolume("x", MIB, UNKNOWN)))
        .fails(Code.NOT_FOUND, "volume_content_source: volume \"" + UNKNOWN);
    assertThatCall(() -> csi.create(fromSnapshot("x", MIB, id))).fails(Code.NOT_FOUND, id);
    assertThatCall(() -> csi.create(fromSnapshot("x", MIB, "")))
        .fails(Code.INVALID_ARGUMENT, "snapshot_id");
    assertThatCall(() -> csi.create(fromVolume("x", MIB, "")))
        .fails(Code.INVALID_ARGUMENT, "volume_id");
  }

  @Test
  void aSourceOnAnotherNodeLetsTheSchedulerChooseAgain() {
    CreateVolumeRequest.Builder request = fromSnapshot("x", MIB, UNKNOWN);
    request
        .getAccessibilityRequirementsBuilder()
        .addRequisite(
            Topology.newBuilder().putSegments(FileModeDriver.NAME + "/node", FileModeDriver.NODE));

    assertThatCall(() -> csi.create(request)).fails(Code.RESOURCE_EXHAUSTED, "on this node");
  }

  @Test
  void kataVolumesAreNotCopied() {
    String kata =
        csi.create(request("kata", 16 * MIB).putParameters("kataContainers", "1")).getVolumeId();
    String plain = csi.create("pvc", 16 * MIB).getVolumeId();

    assertThatCall(() -> csi.snapshot("snap", kata)).fails(Code.FAILED_PRECONDITION, "Kata");
    assertThatCall(() -> csi.create(fromVolume("x", 16 * MIB, kata)))
        .fails(Code.FAILED_PRECONDITION, "Kata");
    assertThatCall(
            () ->
                csi.create(
                    fromVolume("x", 16 * MIB, plain).putParameters("kataContainers", "true")))
        .fails(Code.INVALID_ARGUMENT, "kataContainers");
  }

  @Test
  void aSnapshotThatDoesNotFitLeavesNothing() {
    Volume large = csi.create("pvc", FileModeDriver.POOL * 2 / 3);

    assertThatCall(() -> csi.snapshot("snap", large.getVolumeId())).fails(Code.RESOURCE_EXHAUSTED);

    assertThat(listSnapshots(ListSnapshotsRequest.newBuilder()).getEntriesCount()).isZero();
  }
}
