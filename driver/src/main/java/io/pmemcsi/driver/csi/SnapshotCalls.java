package io.pmemcsi.driver.csi;

import static io.pmemcsi.driver.csi.CsiStatusException.invalid;

import com.google.protobuf.Timestamp;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateSnapshotResponse;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteSnapshotResponse;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetSnapshotResponse;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListSnapshotsResponse;
import csi.v1.Snapshot;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.SnapshotCreator;
import io.pmemcsi.driver.volume.operations.VolumeDeleter;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.time.Instant;
import java.util.List;

/** The calls of the controller service for snapshots. */
public final class SnapshotCalls {

  /** What csi-snapshotter adds about the objects in Kubernetes. */
  private static final String METADATA = "csi.storage.k8s.io/";

  private final Volumes volumes;
  private final SnapshotCreator creator;
  private final VolumeDeleter deleter;

  public SnapshotCalls(Volumes volumes, SnapshotCreator creator, VolumeDeleter deleter) {
    this.volumes = volumes;
    this.creator = creator;
    this.deleter = deleter;
  }

  CreateSnapshotResponse create(CreateSnapshotRequest request) {
    String name = Requests.name(request.getName());
    String source = Requests.text("source_volume_id", request.getSourceVolumeId());
    request.getParametersMap().entrySet().stream()
        .filter(parameter -> !parameter.getKey().startsWith(METADATA))
        .findFirst()
        .ifPresent(
            parameter -> {
              throw invalid(
                  "parameters: \"%s\" with value \"%s\" is not known, a snapshot class has none"
                      .formatted(
                          Requests.escaped(parameter.getKey()),
                          Requests.escaped(parameter.getValue())));
            });
    return CreateSnapshotResponse.newBuilder()
        .setSnapshot(message(creator.create(name, source)))
        .build();
  }

  DeleteSnapshotResponse delete(DeleteSnapshotRequest request) {
    deleter.deleteSnapshot(Requests.text("snapshot_id", request.getSnapshotId()));
    return DeleteSnapshotResponse.getDefaultInstance();
  }

  GetSnapshotResponse get(GetSnapshotRequest request) {
    String id = Requests.text("snapshot_id", request.getSnapshotId());
    return volumes.snapshots().stream()
        .filter(snapshot -> snapshot.id().value().equals(id))
        .findFirst()
        .map(snapshot -> GetSnapshotResponse.newBuilder().setSnapshot(message(snapshot)).build())
        .orElseThrow(
            () ->
                CsiStatusException.notFound(
                    "snapshot \"%s\" does not exist".formatted(Requests.escaped(id))));
  }

  ListSnapshotsResponse list(ListSnapshotsRequest request) {
    Page.Request page =
        new Page.Request("ListSnapshots", request.getMaxEntries(), request.getStartingToken());
    List<VolumeRecord> matching =
        page.after(volumes.snapshots(), SnapshotCalls::id).stream()
            .filter(snapshot -> matches(request.getSnapshotId(), id(snapshot)))
            .filter(snapshot -> matches(request.getSourceVolumeId(), sourceId(snapshot)))
            .toList();
    Page<VolumeRecord> first = page.first(matching, SnapshotCalls::id);
    ListSnapshotsResponse.Builder response = ListSnapshotsResponse.newBuilder();
    first
        .entries()
        .forEach(
            snapshot ->
                response.addEntries(
                    ListSnapshotsResponse.Entry.newBuilder().setSnapshot(message(snapshot))));
    return response.setNextToken(first.nextToken()).build();
  }

  private static String id(VolumeRecord snapshot) {
    return snapshot.id().value();
  }

  private static boolean matches(String filter, String value) {
    return filter.isEmpty() || filter.equals(value);
  }

  private static String sourceId(VolumeRecord snapshot) {
    return snapshot.origin() instanceof Origin.SnapshotOf of ? of.source().value() : "";
  }

  private static Snapshot message(VolumeRecord snapshot) {
    Snapshot.Builder message =
        Snapshot.newBuilder()
            .setSnapshotId(snapshot.id().value())
            .setSourceVolumeId(sourceId(snapshot))
            .setSizeBytes(snapshot.sizeBytes())
            // the copy is finished before the first response
            .setReadyToUse(true);
    if (snapshot.origin() instanceof Origin.SnapshotOf of) {
      message.setCreationTime(timestamp(of.takenAt()));
    }
    return message.build();
  }

  private static Timestamp timestamp(Instant time) {
    return Timestamp.newBuilder()
        .setSeconds(time.getEpochSecond())
        .setNanos(time.getNano())
        .build();
  }
}
