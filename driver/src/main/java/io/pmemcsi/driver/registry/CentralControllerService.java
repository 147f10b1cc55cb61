package io.pmemcsi.driver.registry;

import static io.pmemcsi.driver.registry.Responder.respond;

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
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.registry.RegisteredNodes.Answer;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** The CSI Controller service for all nodes: each call goes to the node that it concerns. */
final class CentralControllerService extends ControllerGrpc.ControllerImplBase {

  private final DriverName driver;
  private final boolean expandable;
  private final RegisteredNodes nodes;
  private final VolumeLocations locations;
  private final StartUp startUp;
  private final VolumePlacer placer;
  private final VolumeCalls calls = new VolumeCalls();

  CentralControllerService(
      DriverName driver,
      boolean expandable,
      RegisteredNodes nodes,
      VolumeLocations locations,
      StartUp startUp) {
    this.driver = driver;
    this.expandable = expandable;
    this.nodes = nodes;
    this.locations = locations;
    this.startUp = startUp;
    this.placer = new VolumePlacer(driver, nodes, locations, startUp);
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
                            always, expandable ? Stream.of(RPC.Type.EXPAND_VOLUME) : Stream.empty())
                        .map(CentralControllerService::capability)
                        .toList())
                .build());
  }

  private static ControllerServiceCapability capability(RPC.Type type) {
    return ControllerServiceCapability.newBuilder().setRpc(RPC.newBuilder().setType(type)).build();
  }

  @Override
  public void createVolume(
      CreateVolumeRequest request, StreamObserver<CreateVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          if (request.getName().isEmpty()) {
            throw CsiStatusException.invalid("name is missing");
          }
          VolumeId id = VolumeId.fromName(request.getName());
          return calls.serialize(id.value(), () -> placer.create(id, request));
        });
  }

  @Override
  public void deleteVolume(
      DeleteVolumeRequest request, StreamObserver<DeleteVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          String id = request.getVolumeId();
          if (id.isEmpty()) {
            throw CsiStatusException.invalid("volume_id is missing");
          }
          return calls.serialize(id, () -> delete(request));
        });
  }

  /**
   * Deletes a volume on every node that holds it. One that no node is known to hold may still be on
   * a node that is away, so all of them have to confirm that it does not exist.
   */
  private DeleteVolumeResponse delete(DeleteVolumeRequest request) {
    String id = request.getVolumeId();
    Map<String, Answer<Boolean>> answers =
        nodes.callAll(
            holdersOrAll(id),
            node -> {
              node.delete(request);
              return true;
            });
    Optional<StatusRuntimeException> failure = Optional.empty();
    for (Map.Entry<String, Answer<Boolean>> each : answers.entrySet()) {
      switch (each.getValue()) {
        case Answer.Success(Boolean _) -> locations.absent(each.getKey(), id);
        case Answer.Failure(StatusRuntimeException cause) ->
            failure = Optional.of(Failures.onNode(each.getKey(), cause));
      }
    }
    failure.ifPresent(
        cause -> {
          throw cause;
        });
    return DeleteVolumeResponse.getDefaultInstance();
  }

  /** Fails where the answer could only be a guess. */
  private List<String> holdersOrAll(String volumeId) {
    List<String> holders = locations.holders(volumeId);
    if (!holders.isEmpty()) {
      return holders;
    }
    Set<String> all = new TreeSet<>(locations.nodes());
    all.addAll(nodes.names());
    if (all.isEmpty() || startUp.isSettling()) {
      throw Unavailable.because(
          "no node is known to hold volume %s, and nodes may still have to register"
              .formatted(volumeId));
    }
    return List.copyOf(all);
  }

  @Override
  public void controllerExpandVolume(
      ControllerExpandVolumeRequest request,
      StreamObserver<ControllerExpandVolumeResponse> observer) {
    if (!expandable) {
      super.controllerExpandVolume(request, observer);
      return;
    }
    respond(observer, () -> onHolder(request.getVolumeId(), node -> node.expand(request)));
  }

  @Override
  public void validateVolumeCapabilities(
      ValidateVolumeCapabilitiesRequest request,
      StreamObserver<ValidateVolumeCapabilitiesResponse> observer) {
    respond(observer, () -> onHolder(request.getVolumeId(), node -> node.validate(request)));
  }

  /** Calls the node that has the volume; reports NOT_FOUND only if every node does. */
  private <T> T onHolder(String volumeId, Function<NodeClient, T> call) {
    StatusRuntimeException failure =
        Status.NOT_FOUND.withDescription("volume " + volumeId).asRuntimeException();
    for (String node : holdersOrAll(volumeId)) {
      try {
        return call.apply(nodes.find(node).orElseThrow(() -> Unavailable.notRegistered(node)));
      } catch (StatusRuntimeException e) {
        failure = moreTelling(failure, Failures.onNode(node, e));
      }
    }
    throw failure;
  }

  /**
   * The answer of the node that has the volume comes before the silence of one that may have it,
   * and that before the answer of one that does not.
   */
  private static StatusRuntimeException moreTelling(
      StatusRuntimeException one, StatusRuntimeException other) {
    return weight(one) > weight(other) ? one : other;
  }

  private static int weight(StatusRuntimeException failure) {
    Status.Code code = failure.getStatus().getCode();
    return code == Status.Code.NOT_FOUND ? 0 : code == Status.Code.UNAVAILABLE ? 1 : 2;
  }

  @Override
  public void listVolumes(
      ListVolumesRequest request, StreamObserver<ListVolumesResponse> observer) {
    respond(observer, () -> VolumePages.page(request, volumes()));
  }

  /** The current volumes of all nodes; for an unreachable node the last reported ones. */
  private NavigableMap<String, Long> volumes() {
    Set<String> all = new TreeSet<>(locations.nodes());
    all.addAll(nodes.names());
    TreeMap<String, Long> volumes = new TreeMap<>();
    if (all.isEmpty()) {
      return volumes;
    }
    nodes
        .callAll(List.copyOf(all), NodeClient::list)
        .forEach(
            (node, answer) -> {
              switch (answer) {
                case Answer.Success(List<ListVolumesResponse.Entry> entries) ->
                    entries.forEach(
                        entry ->
                            volumes.put(
                                entry.getVolume().getVolumeId(),
                                entry.getVolume().getCapacityBytes()));
                case Answer.Failure(StatusRuntimeException _) ->
                    locations.volumes(node).forEach(volumes::putIfAbsent);
              }
            });
    return volumes;
  }

  @Override
  public void getCapacity(
      GetCapacityRequest request, StreamObserver<GetCapacityResponse> observer) {
    respond(
        observer,
        () -> {
          String requested =
              request.getAccessibleTopology().getSegmentsOrDefault(driver.topologyKey(), "");
          return requested.isEmpty()
              ? sum()
              : nodes.find(requested).map(NodeClient::capacity).orElseGet(() -> capacity(0, 0));
        });
  }

  /** Nodes that do not answer cannot be given volumes either. */
  private GetCapacityResponse sum() {
    long available = 0;
    long largest = 0;
    List<String> all = nodes.names();
    if (all.isEmpty()) {
      return capacity(0, 0);
    }
    for (Answer<GetCapacityResponse> answer : nodes.callAll(all, NodeClient::capacity).values()) {
      if (answer instanceof Answer.Success(GetCapacityResponse capacity)) {
        available += capacity.getAvailableCapacity();
        largest = Math.max(largest, capacity.getMaximumVolumeSize().getValue());
      }
    }
    return capacity(available, largest);
  }

  private static GetCapacityResponse capacity(long available, long largest) {
    return GetCapacityResponse.newBuilder()
        .setAvailableCapacity(available)
        .setMaximumVolumeSize(Int64Value.of(largest))
        .build();
  }
}
