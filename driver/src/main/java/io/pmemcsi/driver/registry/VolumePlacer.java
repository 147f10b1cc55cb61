package io.pmemcsi.driver.registry;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.registry.RegisteredNodes.Answer;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates volumes: each on exactly one node, whatever gets lost in between. That a node is going to
 * be asked is on disk before it is asked, and a creation without a definite answer binds the volume
 * to that node until it gives one.
 */
final class VolumePlacer {

  private static final Logger LOG = LoggerFactory.getLogger(VolumePlacer.class);

  private final DriverName driver;
  private final RegisteredNodes nodes;
  private final VolumeLocations locations;
  private final StartUp startUp;

  VolumePlacer(
      DriverName driver, RegisteredNodes nodes, VolumeLocations locations, StartUp startUp) {
    this.driver = driver;
    this.nodes = nodes;
    this.locations = locations;
    this.startUp = startUp;
  }

  /** Serves one CreateVolume call; no other call for the volume may be under way. */
  CreateVolumeResponse create(VolumeId id, CreateVolumeRequest request) {
    Placement placement = Placement.of(driver, request.getAccessibilityRequirements());
    Optional<String> holder = holder(id, placement);
    return holder.isPresent()
        ? forward(holder.get(), id, request)
        : createOnOneOf(placement, id, request);
  }

  /**
   * The node that has the volume already, or may have it. An interrupted creation on a node that is
   * not allowed any more is undone: no caller was ever given that volume.
   */
  private Optional<String> holder(VolumeId id, Placement placement) {
    List<String> holders =
        locations.holders(id.value()).stream()
            .sorted(Comparator.comparing(node -> !locations.isReported(node, id.value())))
            .toList();
    Optional<String> usable = holders.stream().filter(placement::allows).findFirst();
    if (usable.isPresent()) {
      return usable;
    }
    for (String node : holders) {
      if (locations.isReported(node, id.value())) {
        throw Status.ALREADY_EXISTS
            .withDescription(
                "volume %s is on node %s, which accessibility_requirements do not allow"
                    .formatted(id, node))
            .asRuntimeException();
      }
      undo(node, id, "it was interrupted");
    }
    return Optional.empty();
  }

  private CreateVolumeResponse createOnOneOf(
      Placement placement, VolumeId id, CreateVolumeRequest request) {
    Map<String, Placement.Room> rooms = rooms(placement);
    long required = request.getCapacityRange().getRequiredBytes();
    List<String> order = placement.order(rooms, required);
    if (order.isEmpty()) {
      throw noRoom(required, rooms);
    }
    StatusRuntimeException reason = noRoom(required, rooms);
    for (String node : order) {
      try {
        return forward(node, id, request);
      } catch (StatusRuntimeException e) {
        switch (CreateOutcome.of(e.getStatus().getCode())) {
          case NO_ROOM -> LOG.atInfo().addKeyValue("node", node).log("Node has no room left.");
          // forward has undone it
          case BROKEN -> reason = e;
          case REFUSED, EXISTS, UNCERTAIN -> throw e;
        }
      }
    }
    throw reason;
  }

  private Map<String, Placement.Room> rooms(Placement placement) {
    List<String> possible = placement.among(nodes.names());
    if (possible.isEmpty()) {
      throw noNode(placement);
    }
    Map<String, Placement.Room> rooms = new TreeMap<>();
    Map<String, Answer<GetCapacityResponse>> answers =
        nodes.callAll(possible, NodeClient::capacity);
    String failure = "";
    for (Map.Entry<String, Answer<GetCapacityResponse>> each : answers.entrySet()) {
      switch (each.getValue()) {
        case Answer.Success(GetCapacityResponse capacity) ->
            rooms.put(each.getKey(), room(capacity));
        case Answer.Failure(StatusRuntimeException cause) -> {
          failure = Failures.text(cause);
          LOG.atWarn()
              .addKeyValue("node", each.getKey())
              .addKeyValue("cause", failure)
              .log("Node does not report its capacity.");
        }
      }
    }
    if (rooms.isEmpty()) {
      throw Unavailable.unreachable(possible, failure);
    }
    return rooms;
  }

  private static Placement.Room room(GetCapacityResponse capacity) {
    return new Placement.Room(
        capacity.getAvailableCapacity(),
        capacity.hasMaximumVolumeSize()
            ? capacity.getMaximumVolumeSize().getValue()
            : capacity.getAvailableCapacity());
  }

  /** With RESOURCE_EXHAUSTED the pod is scheduled to another node, which must be right to do. */
  private StatusRuntimeException noNode(Placement placement) {
    if (startUp.isSettling() || placement.allowed().isEmpty()) {
      return Unavailable.noNodes();
    }
    List<String> away = placement.among(locations.nodes());
    if (!away.isEmpty()) {
      return Unavailable.notRegistered(String.join(", ", away));
    }
    return Status.RESOURCE_EXHAUSTED
        .withDescription(
            "accessibility_requirements: the driver does not run on node %s"
                .formatted(
                    String.join(
                        ", ", placement.allowed().orElseThrow().stream().sorted().toList())))
        .asRuntimeException();
  }

  private static StatusRuntimeException noRoom(long required, Map<String, Placement.Room> rooms) {
    Map.Entry<String, Placement.Room> best =
        rooms.entrySet().stream()
            .max(Comparator.comparingLong(each -> each.getValue().largestVolume()))
            .orElseThrow();
    return Status.RESOURCE_EXHAUSTED
        .withDescription(
            "not enough space for %d bytes: the largest volume is %d bytes, on node %s"
                .formatted(required, best.getValue().largestVolume(), best.getKey()))
        .asRuntimeException();
  }

  private CreateVolumeResponse forward(String node, VolumeId id, CreateVolumeRequest request) {
    boolean reported = locations.isReported(node, id.value());
    NodeClient client = nodes.find(node).orElseThrow(() -> Unavailable.notRegistered(node));
    if (!reported) {
      locations.creating(node, id.value());
    }
    try {
      CreateVolumeResponse response = client.create(request);
      Volume volume = response.getVolume();
      locations.created(node, volume.getVolumeId(), volume.getCapacityBytes());
      return response;
    } catch (StatusRuntimeException e) {
      if (!reported) {
        settle(node, id, e);
      }
      throw Failures.onNode(node, e);
    }
  }

  private void settle(String node, VolumeId id, StatusRuntimeException failure) {
    switch (CreateOutcome.of(failure.getStatus().getCode())) {
      case NO_ROOM, REFUSED -> locations.absent(node, id.value());
      case BROKEN -> undo(node, id, Failures.text(failure));
      // the record stays: the volume belongs to this node until the node reports otherwise
      case EXISTS, UNCERTAIN -> {}
    }
  }

  private void undo(String node, VolumeId id, String why) {
    try {
      nodes
          .find(node)
          .orElseThrow(() -> Unavailable.notRegistered(node))
          .delete(DeleteVolumeRequest.newBuilder().setVolumeId(id.value()).build());
    } catch (StatusRuntimeException e) {
      throw Status.ABORTED
          .withDescription(
              "creating volume %s on node %s failed (%s) and is not undone yet: %s"
                  .formatted(id, node, why, Failures.text(e)))
          .asRuntimeException();
    }
    locations.absent(node, id.value());
  }
}
