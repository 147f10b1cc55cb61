package io.pmemcsi.driver.csi;

import static io.pmemcsi.driver.csi.CsiStatusException.invalid;
import static io.pmemcsi.driver.csi.GrpcResponder.respond;

import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerExpandVolumeResponse;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetCapabilitiesResponse;
import csi.v1.ControllerGrpc;
import csi.v1.ControllerServiceCapability.RPC;
import csi.v1.CreateSnapshotRequest;
import csi.v1.CreateSnapshotResponse;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteSnapshotRequest;
import csi.v1.DeleteSnapshotResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.DeleteVolumeResponse;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.GetSnapshotRequest;
import csi.v1.GetSnapshotResponse;
import csi.v1.ListSnapshotsRequest;
import csi.v1.ListSnapshotsResponse;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import csi.v1.VolumeCapability;
import csi.v1.VolumeContentSource;
import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.node.Access;
import io.pmemcsi.driver.volume.ParameterSource;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.VolumeCloner;
import io.pmemcsi.driver.volume.operations.VolumeCreator;
import io.pmemcsi.driver.volume.operations.VolumeDeleter;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** The CSI controller service: creates, deletes and lists volumes of this node. */
public final class ControllerService extends ControllerGrpc.ControllerImplBase {

  private final NodeIdentity node;
  private final Volumes volumes;
  private final VolumeCreator creator;
  private final VolumeCloner cloner;
  private final VolumeDeleter deleter;
  private final SnapshotCalls snapshots;
  private final DeviceMode mode;
  private final VolumeMessages messages;
  private volatile Whole whole = new Whole(-1, ListVolumesResponse.getDefaultInstance());

  /** The list of all volumes, valid until the ledger has another version. */
  private record Whole(long version, ListVolumesResponse response) {}

  public ControllerService(
      NodeIdentity node,
      Volumes volumes,
      VolumeCreator creator,
      VolumeCloner cloner,
      VolumeDeleter deleter,
      SnapshotCalls snapshots,
      DeviceMode mode) {
    this.node = node;
    this.volumes = volumes;
    this.creator = creator;
    this.cloner = cloner;
    this.deleter = deleter;
    this.snapshots = snapshots;
    this.mode = mode;
    this.messages = new VolumeMessages(node);
  }

  /** This service for a server, where a list that has not changed is not put into bytes again. */
  public BindableService withCachedList() {
    return () ->
        CachedResponseMarshaller.forResponsesOf(
            ControllerGrpc.getListVolumesMethod(), bindService());
  }

  @Override
  public void controllerGetCapabilities(
      ControllerGetCapabilitiesRequest request,
      StreamObserver<ControllerGetCapabilitiesResponse> observer) {
    Stream<RPC.Type> always =
        Stream.of(
            RPC.Type.CREATE_DELETE_VOLUME,
            RPC.Type.LIST_VOLUMES,
            RPC.Type.GET_CAPACITY,
            RPC.Type.CREATE_DELETE_SNAPSHOT,
            RPC.Type.LIST_SNAPSHOTS,
            RPC.Type.GET_SNAPSHOT,
            RPC.Type.CLONE_VOLUME,
            RPC.Type.SINGLE_NODE_MULTI_WRITER);
    respond(
        observer,
        () ->
            ControllerMessages.capabilities(
                Stream.concat(
                        always,
                        mode.isExpandable() ? Stream.of() : Stream.of(RPC.Type.EXPAND_VOLUME))
                    .toArray(RPC.Type[]::new)));
  }

  /**
   * Only refuses: the node expands volumes. Where it cannot, the resizer shows the reason in an
   * event of the claim and leaves the PersistentVolume as it is. A refusal by NodeExpandVolume
   * would come too late for that, and kubelet before 1.32 would not mount the volume again.
   */
  @Override
  public void controllerExpandVolume(
      ControllerExpandVolumeRequest request,
      StreamObserver<ControllerExpandVolumeResponse> observer) {
    if (mode.isExpandable()) {
      super.controllerExpandVolume(request, observer);
      return;
    }
    respond(
        observer,
        () -> {
          throw invalid(
              "volume_id %s: device mode %s does not support expansion of volumes; copy the data to a larger volume"
                  .formatted(
                      Requests.escaped(Requests.volumeId(request.getVolumeId())), mode.text()));
        });
  }

  @Override
  public void createVolume(
      CreateVolumeRequest request, StreamObserver<CreateVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          String name = Requests.name(request.getName());
          List<Access> accesses = accesses(request.getVolumeCapabilitiesList());
          VolumeParameters parameters =
              Requests.parameters(ParameterSource.STORAGE_CLASS, request.getParametersMap());
          refuseUnsupported(request);
          refuseBlockImage(accesses, parameters);
          SizeRange size = Requests.size(request.hasCapacityRange(), request.getCapacityRange());
          for (Access access : accesses) {
            size = size.atLeast(minimum(access));
          }
          VolumeRecord created = create(request, name, size, parameters);
          return CreateVolumeResponse.newBuilder()
              .setVolume(messages.volume(created, volumes.numaNode(created)))
              .build();
        });
  }

  private VolumeRecord create(
      CreateVolumeRequest request, String name, SizeRange size, VolumeParameters parameters) {
    if (!request.hasVolumeContentSource()) {
      return creator.create(name, size, parameters);
    }
    VolumeContentSource source = request.getVolumeContentSource();
    try {
      return switch (source.getTypeCase()) {
        case SNAPSHOT ->
            cloner.ofSnapshot(
                name,
                size,
                parameters,
                Requests.text(
                    "volume_content_source.snapshot.snapshot_id",
                    source.getSnapshot().getSnapshotId()));
        case VOLUME ->
            cloner.ofVolume(
                name,
                size,
                parameters,
                Requests.text(
                    "volume_content_source.volume.volume_id", source.getVolume().getVolumeId()));
        case TYPE_NOT_SET ->
            throw invalid("volume_content_source is empty: name a snapshot or a volume");
      };
    } catch (VolumeException.NotFound e) {
      if (request.hasAccessibilityRequirements()) {
        // it may be on another node: with this code the provisioner lets the scheduler choose again
        throw new CsiStatusException(
            Status.Code.RESOURCE_EXHAUSTED, String.valueOf(e.getMessage()));
      }
      throw e;
    }
  }

  @Override
  public void createSnapshot(
      CreateSnapshotRequest request, StreamObserver<CreateSnapshotResponse> observer) {
    respond(observer, () -> snapshots.create(request));
  }

  @Override
  public void deleteSnapshot(
      DeleteSnapshotRequest request, StreamObserver<DeleteSnapshotResponse> observer) {
    respond(observer, () -> snapshots.delete(request));
  }

  @Override
  public void listSnapshots(
      ListSnapshotsRequest request, StreamObserver<ListSnapshotsResponse> observer) {
    respond(observer, () -> snapshots.list(request));
  }

  @Override
  public void getSnapshot(
      GetSnapshotRequest request, StreamObserver<GetSnapshotResponse> observer) {
    respond(observer, () -> snapshots.get(request));
  }

  @Override
  public void deleteVolume(
      DeleteVolumeRequest request, StreamObserver<DeleteVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          deleter.delete(Requests.volumeId(request.getVolumeId()));
          return DeleteVolumeResponse.getDefaultInstance();
        });
  }

  @Override
  public void validateVolumeCapabilities(
      ValidateVolumeCapabilitiesRequest request,
      StreamObserver<ValidateVolumeCapabilitiesResponse> observer) {
    respond(
        observer,
        () -> {
          String id = Requests.volumeId(request.getVolumeId());
          if (request.getVolumeCapabilitiesCount() == 0) {
            throw invalid("volume_capabilities is missing");
          }
          VolumeRecord entry = volumes.resolve(id).require();
          try {
            refuseBlockImage(accesses(request.getVolumeCapabilitiesList()), entry.parameters());
          } catch (CsiStatusException e) {
            return ValidateVolumeCapabilitiesResponse.newBuilder()
                .setMessage(String.valueOf(e.getMessage()))
                .build();
          }
          return ValidateVolumeCapabilitiesResponse.newBuilder()
              .setConfirmed(
                  ValidateVolumeCapabilitiesResponse.Confirmed.newBuilder()
                      .addAllVolumeCapabilities(request.getVolumeCapabilitiesList())
                      .putAllVolumeContext(request.getVolumeContextMap())
                      .putAllParameters(request.getParametersMap()))
              .build();
        });
  }

  @Override
  public void listVolumes(
      ListVolumesRequest request, StreamObserver<ListVolumesResponse> observer) {
    respond(
        observer,
        () -> {
          Page.Request page =
              new Page.Request("ListVolumes", request.getMaxEntries(), request.getStartingToken());
          return page.isForAll() ? whole(page) : list(page);
        });
  }

  /** Sidecars ask often, so the response is built once per change. */
  private ListVolumesResponse whole(Page.Request all) {
    long version = volumes.version();
    Whole kept = whole;
    if (kept.version() != version) {
      kept = new Whole(version, list(all));
      whole = kept;
    }
    return kept.response();
  }

  private ListVolumesResponse list(Page.Request request) {
    List<VolumeRecord> all = volumes.list();
    Page<VolumeRecord> page = request.of(all, volume -> volume.id().value());
    return ListVolumesResponse.newBuilder()
        .addAllEntries(messages.list(page.entries(), all))
        .setNextToken(page.nextToken())
        .build();
  }

  @Override
  public void getCapacity(
      GetCapacityRequest request, StreamObserver<GetCapacityResponse> observer) {
    respond(
        observer,
        () -> {
          boolean here =
              !request.hasAccessibleTopology() || node.isIn(request.getAccessibleTopology());
          OptionalInt numaNode = Requests.numaNode(request.getParametersMap());
          Capacity capacity = here ? volumes.capacity(numaNode) : Capacity.NONE;
          return ControllerMessages.capacity(capacity.available(), capacity.maxVolumeSize());
        });
  }

  private static List<Access> accesses(List<VolumeCapability> capabilities) {
    if (capabilities.isEmpty()) {
      throw invalid("volume_capabilities is missing");
    }
    List<Access> accesses = new ArrayList<>();
    capabilities.forEach(capability -> accesses.add(Requests.access(capability)));
    return accesses;
  }

  private void refuseUnsupported(CreateVolumeRequest request) {
    if (request.getChangeableParametersCount() > 0) {
      throw invalid(
          "mutable_parameters are not supported: " + request.getChangeableParametersMap().keySet());
    }
    List<csi.v1.Topology> places = request.getAccessibilityRequirements().getRequisiteList();
    if (!places.isEmpty() && places.stream().noneMatch(node::isIn)) {
      throw new CsiStatusException(
          Status.Code.RESOURCE_EXHAUSTED,
          "accessibility_requirements: volumes of this driver are on node %s only"
              .formatted(node.nodeId()));
    }
  }

  private static void refuseBlockImage(List<Access> accesses, VolumeParameters parameters) {
    if (parameters.kataContainers() && accesses.stream().anyMatch(Access.Block.class::isInstance)) {
      throw invalid(
          "volume_capabilities: a volume with kataContainers=true cannot be a raw block volume");
    }
  }

  private static long minimum(Access access) {
    return switch (access) {
      case Access.Block _ -> 0;
      case Access.Mount mount -> mount.type().map(FilesystemType::minimumBytes).orElse(0L);
    };
  }
}
