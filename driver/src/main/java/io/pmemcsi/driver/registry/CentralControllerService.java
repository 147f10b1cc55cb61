package io.pmemcsi.driver.registry;

import static io.pmemcsi.driver.registry.Responder.respond;

import csi.v1.ControllerGetCapabilitiesRequest;
import csi.v1.ControllerGetCapabilitiesResponse;
import csi.v1.ControllerGrpc;
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
import io.grpc.stub.StreamObserver;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.csi.ControllerMessages;
import io.pmemcsi.driver.csi.Page;
import io.pmemcsi.driver.csi.Requests;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.registry.RegisteredNodes.Answer;
import io.pmemcsi.driver.registry.RegistryException.NodeFailed;
import io.pmemcsi.driver.registry.RegistryException.Unavailable;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/** The CSI Controller service for all nodes: each call goes to the node that it concerns. */
final class CentralControllerService extends ControllerGrpc.ControllerImplBase {

  private final DriverName driver;
  private final RegisteredNodes nodes;
  private final VolumeLocations locations;
  private final UnreportedNodes unreported;
  private final VolumePlacer placer;
  private final VolumeCalls calls = new VolumeCalls();

  CentralControllerService(
      DriverName driver,
      RegisteredNodes nodes,
      VolumeLocations locations,
      UnreportedNodes unreported) {
    this.driver = driver;
    this.nodes = nodes;
    this.locations = locations;
    this.unreported = unreported;
    this.placer = new VolumePlacer(driver, nodes, locations, unreported);
  }

  @Override
  public void controllerGetCapabilities(
      ControllerGetCapabilitiesRequest request,
      StreamObserver<ControllerGetCapabilitiesResponse> observer) {
    respond(
        observer,
        () ->
            ControllerMessages.capabilities(
                RPC.Type.CREATE_DELETE_VOLUME,
                RPC.Type.LIST_VOLUMES,
                RPC.Type.GET_CAPACITY,
                RPC.Type.SINGLE_NODE_MULTI_WRITER));
  }

  @Override
  public void createVolume(
      CreateVolumeRequest request, StreamObserver<CreateVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          VolumeId id = VolumeId.fromName(Requests.name(request.getName()));
          if (request.hasVolumeContentSource()) {
            throw new RegistryException.InvalidRequest(
                "volume_content_source is not supported by the central controller: provision on the"
                    + " nodes");
          }
          return calls.serialize(id.value(), () -> placer.create(id, request));
        });
  }

  @Override
  public void deleteVolume(
      DeleteVolumeRequest request, StreamObserver<DeleteVolumeResponse> observer) {
    respond(
        observer,
        () -> {
          String id = Requests.volumeId(request.getVolumeId());
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
    Optional<RegistryException> failure = Optional.empty();
    for (Map.Entry<String, Answer<Boolean>> each : answers.entrySet()) {
      switch (each.getValue()) {
        case Answer.Success(Boolean _) -> locations.absent(each.getKey(), id);
        case Answer.Failure(RegistryException cause) ->
            failure = Optional.of(onNode(each.getKey(), cause));
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
    unreported.giveUpDeleted(locations.holders(volumeId));
    List<String> holders = locations.holders(volumeId);
    if (!holders.isEmpty()) {
      return holders;
    }
    unreported.giveUpDeleted(locations.nodes());
    Set<String> all = new TreeSet<>(locations.nodes());
    all.addAll(nodes.names());
    if (all.isEmpty() || unreported.isSettling()) {
      throw new Unavailable(
          "no node is known to hold volume %s, and nodes may still have to register"
              .formatted(volumeId));
    }
    all.addAll(unreported.inventory());
    return List.copyOf(all);
  }

  @Override
  public void validateVolumeCapabilities(
      ValidateVolumeCapabilitiesRequest request,
      StreamObserver<ValidateVolumeCapabilitiesResponse> observer) {
    respond(observer, () -> onHolder(request.getVolumeId(), node -> node.validate(request)));
  }

  /** Calls the node that has the volume; reports NOT_FOUND only if every node does. */
  private <T> T onHolder(String volumeId, Function<NodeClient, T> call) {
    RegistryException failure = new RegistryException.NotFound("volume " + volumeId);
    for (String node : holdersOrAll(volumeId)) {
      try {
        return call.apply(nodes.find(node).orElseThrow(() -> Unavailable.notRegistered(node)));
      } catch (RegistryException e) {
        failure = moreTelling(failure, onNode(node, e));
      }
    }
    throw failure;
  }

  /**
   * The answer of the node that has the volume comes before the silence of one that may have it,
   * and that before the answer of one that does not.
   */
  private static RegistryException moreTelling(RegistryException one, RegistryException other) {
    return weight(one) > weight(other) ? one : other;
  }

  private static int weight(RegistryException failure) {
    return switch (failure) {
      case RegistryException.NotFound _ -> 0;
      case Unavailable _ -> 1;
      case NodeFailed failed -> failed.isNotFound() ? 0 : failed.isUnavailable() ? 1 : 2;
      case RegistryException _ -> 2;
    };
  }

  /** What the node itself has answered gets its name; other failures have it. */
  private static RegistryException onNode(String node, RegistryException failure) {
    return failure instanceof NodeFailed failed ? failed.onNode(node) : failure;
  }

  @Override
  public void listVolumes(
      ListVolumesRequest request, StreamObserver<ListVolumesResponse> observer) {
    respond(
        observer,
        () -> {
          Page<Map.Entry<String, Long>> page =
              new Page.Request("ListVolumes", request.getMaxEntries(), request.getStartingToken())
                  .of(List.copyOf(volumes().entrySet()), Map.Entry::getKey);
          ListVolumesResponse.Builder response = ListVolumesResponse.newBuilder();
          page.entries()
              .forEach(
                  volume ->
                      response.addEntries(
                          ControllerMessages.listed(volume.getKey(), volume.getValue())));
          return response.setNextToken(page.nextToken()).build();
        });
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
                case Answer.Failure(RegistryException _) ->
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
              ? sum(request.getParametersMap())
              : nodes
                  .find(requested)
                  .map(node -> node.capacity(request.getParametersMap()))
                  .orElseGet(() -> ControllerMessages.capacity(0, 0));
        });
  }

  /** Nodes that do not answer cannot be given volumes either. */
  private GetCapacityResponse sum(Map<String, String> parameters) {
    long available = 0;
    long largest = 0;
    List<String> all = nodes.names();
    if (all.isEmpty()) {
      return ControllerMessages.capacity(0, 0);
    }
    for (Answer<GetCapacityResponse> answer :
        nodes.callAll(all, node -> node.capacity(parameters)).values()) {
      if (answer instanceof Answer.Success(GetCapacityResponse capacity)) {
        available += capacity.getAvailableCapacity();
        largest = Math.max(largest, capacity.getMaximumVolumeSize().getValue());
      }
    }
    return ControllerMessages.capacity(available, largest);
  }
}
