package io.pmemcsi.driver.csi;

import static io.pmemcsi.driver.csi.CsiStatusException.invalid;
import static io.pmemcsi.driver.csi.GrpcResponder.respond;

import com.google.protobuf.Int64Value;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.ControllerExpandVolumeResponse;
import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetCapabilitiesResponse;
import csi.v1.ControllerGrpc;
import csi.v1.ControllerServiceCapability;
import csi.v1.ControllerServiceCapability.RPC;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.DeleteVolumeResponse;
import csi.v1.GetCapacityRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.ListVolumesRequest;
import csi.v1.ListVolumesResponse;
import csi.v1.ValidateVolumeCapabilitiesRequest;
import csi.v1.ValidateVolumeCapabilitiesResponse;
import csi.v1.VolumeCapability;
import io.grpc.BindableService;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.linux.mount.FilesystemType;
import io.pmemcsi.driver.node.Access;
import io.pmemcsi.driver.volume.ParameterSource;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.VolumeCreator;
import io.pmemcsi.driver.volume.operations.VolumeDeleter;
import io.pmemcsi.driver.volume.operations.VolumeExpander;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The CSI controller service: creates, deletes, expands and lists volumes of this node. */
public final class ControllerService extends ControllerGrpc.ControllerImplBase {

  private final NodeIdentity node;
  private final Volumes volumes;
  private final VolumeCreator creator;
  private final VolumeDeleter deleter;
  private final VolumeExpander expander;
  private final boolean expandable;
  private final VolumeMessages messages;
  private volatile Whole whole = new Whole(-1, ListVolumesResponse.getDefaultInstance());

  /** The list of all volumes, valid until the ledger has another version. */
  private record Whole(long version, ListVolumesResponse response) {}

  /**
   * Serves what the parts below offer.
   *
   * @param expandable whether volumes of this device mode can be expanded
   */
  public ControllerService(
      NodeIdentity node,
      Volumes volumes,
      VolumeCreator creator,
      VolumeDeleter deleter,
      VolumeExpander expander,
      boolean expandable) {
    this.node = node;
    this.volumes = volumes;
    this.creator = creator;
    this.deleter = deleter;
    this.expander = expander;
    this.expandable = expandable;
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
            RPC.Type.SINGLE_NODE_MULTI_WRITER);
    respond(
        observer,
        () ->
            ControllerGetCapabilitiesResponse.newBuilder()
                .addAllCapabilities(
                    Stream.concat(
                            always, expandable ? Stream.of(RPC.Type.EXPAND_VOLUME) : Stream.of())
                        .map(ControllerService::capability)
                        .toList())
                .build());
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
          return CreateVolumeResponse.newBuilder()
              .setVolume(messages.volume(creator.create(name, size, parameters)))
              .build();
        });
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
  public void controllerExpandVolume(
      ControllerExpandVolumeRequest request,
      StreamObserver<ControllerExpandVolumeResponse> observer) {
    if (!expandable) {
      super.controllerExpandVolume(request, observer);
      return;
    }
    respond(
        observer,
        () -> {
          String id = Requests.volumeId(request.getVolumeId());
          if (!request.hasCapacityRange()) {
            throw invalid("capacity_range is missing");
          }
          SizeRange size = Requests.size(true, request.getCapacityRange());
          if (request.hasVolumeCapability()) {
            Requests.access(request.getVolumeCapability());
          }
          VolumeRecord entry = expander.expand(id, size);
          return ControllerExpandVolumeResponse.newBuilder()
              .setCapacityBytes(entry.sizeBytes())
              .setNodeExpansionRequired(!request.getVolumeCapability().hasBlock())
              .build();
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
          if (request.getMaxEntries() < 0) {
            throw invalid("max_entries %d is negative".formatted(request.getMaxEntries()));
          }
          boolean all = request.getMaxEntries() == 0 && request.getStartingToken().isEmpty();
          return all ? whole() : page(request.getMaxEntries(), request.getStartingToken());
        });
  }

  /** Sidecars ask often, so the response is built once per change. */
  private ListVolumesResponse whole() {
    long version = volumes.version();
    Whole kept = whole;
    if (kept.version() != version) {
      kept = new Whole(version, page(0, ""));
      whole = kept;
    }
    return kept.response();
  }

  private ListVolumesResponse page(int maxEntries, String token) {
    List<VolumeRecord> all = volumes.list();
    List<VolumeRecord> after = after(all, token);
    int count = maxEntries == 0 ? after.size() : Math.min(after.size(), maxEntries);
    ListVolumesResponse.Builder page = ListVolumesResponse.newBuilder();
    page.addAllEntries(messages.list(after.subList(0, count), all));
    if (count < after.size()) {
      page.setNextToken(after.get(count - 1).id().value());
    }
    return page.build();
  }

  /**
   * A token is the id of the last volume on the page before, so that pages neither repeat nor skip
   * a volume when others come and go between.
   */
  private static List<VolumeRecord> after(List<VolumeRecord> all, String token) {
    if (token.isEmpty()) {
      return all;
    }
    if (!token.matches("[A-Za-z0-9_+.-]{1,6}-[0-9a-f]{56}")
        && all.stream().noneMatch(entry -> entry.id().value().equals(token))) {
      throw new CsiStatusException(
          Status.Code.ABORTED,
          "starting_token \"%s\" is not one that ListVolumes has returned"
              .formatted(Requests.escaped(token)));
    }
    return all.stream().filter(entry -> entry.id().value().compareTo(token) > 0).toList();
  }

  @Override
  public void getCapacity(
      GetCapacityRequest request, StreamObserver<GetCapacityResponse> observer) {
    respond(
        observer,
        () -> {
          boolean here =
              !request.hasAccessibleTopology() || node.isIn(request.getAccessibleTopology());
          Capacity capacity = here ? volumes.capacity() : Capacity.NONE;
          return GetCapacityResponse.newBuilder()
              .setAvailableCapacity(capacity.available())
              .setMaximumVolumeSize(Int64Value.of(capacity.maxVolumeSize()))
              .build();
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
    if (request.hasVolumeContentSource()) {
      throw invalid("volume_content_source is not supported: there are no snapshots and clones");
    }
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

  private static ControllerServiceCapability capability(RPC.Type type) {
    return ControllerServiceCapability.newBuilder().setRpc(RPC.newBuilder().setType(type)).build();
  }
}
