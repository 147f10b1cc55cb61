package io.pmemcsi.driver.registry;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.DeleteVolumeRequest;
import csi.v1.GetCapacityResponse;
import csi.v1.Volume;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.registry.RegisteredNodes.Answer;
import io.pmemcsi.driver.registry.RegistryException.NodeFailed;
import io.pmemcsi.driver.registry.RegistryException.Unavailable;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
  private final UnreportedNodes unreported;

  VolumePlacer(
      DriverName driver,
      RegisteredNodes nodes,
      VolumeLocations locations,
      UnreportedNodes unreported) {
    this.driver = driver;
    this.nodes = nodes;
    this.locations = locations;
    this.unreported = unreported;
  }

  /** Serves one CreateVolume call; no other call for the volume may be under way. */
  CreateVolumeResponse create(VolumeId id, CreateVolumeRequest request) {
    Placement placement = Placement.of(driver, request.getAccessibilityRequirements());
    Optional<String> holder = holder(id, placement);
    if (holder.isPresent()) {
      return forward(holder.get(), id, request);
    }
    refuseWhileNodesRegister(id);
    return createOnOneOf(placement, id, request);
  }

  /**
   * A controller that lost its records does not know what an earlier one has begun. Until the nodes
   * have reported their volumes, a volume of this name may exist on one of them.
   */
  private void refuseWhileNodesRegister(VolumeId id) {
    if (unreported.isSettling()) {
      List<String> missing = unreported.names();
      if (!missing.isEmpty()) {
        throw new Unavailable(
            "volume %s may exist already: the controller started a moment ago, and node %s has not registered yet"
                .formatted(id, String.join(", ", missing)));
      }
    }
  }

  /**
   * The node that has the volume already, or may have it. An interrupted creation on a node that is
   * not allowed any more is undone: no caller was ever given that volume.
   */
  private Optional<String> holder(VolumeId id, Placement placement) {
    List<String> known = locations.holders(id.value());
    if (known.stream().noneMatch(node -> locations.isReported(node, id.value()))) {
      unreported.giveUpDeleted(known);
    }
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
        throw new RegistryException.OnOtherNode(
            "volume %s is on node %s, which accessibility_requirements do not allow"
                .formatted(id, node));
      }
      undo(node, id, "it was interrupted");
    }
    return Optional.empty();
  }

  private CreateVolumeResponse createOnOneOf(
      Placement placement, VolumeId id, CreateVolumeRequest request) {
    List<String> possible = possible(placement);
    if (possible.size() == 1) {
      // nothing to choose: the node itself reports that it has not enough capacity
      return forward(possible.getFirst(), id, request);
    }
    Map<String, Placement.NodeCapacity> capacities =
        capacities(possible, request.getParametersMap());
    long required = request.getCapacityRange().getRequiredBytes();
    List<String> order = placement.order(capacities, required);
    if (order.isEmpty()) {
      throw insufficientCapacity(required, capacities);
    }
    RegistryException reason = insufficientCapacity(required, capacities);
    for (String node : order) {
      try {
        return forward(node, id, request);
      } catch (NodeFailed e) {
        switch (e.createOutcome()) {
          case INSUFFICIENT_CAPACITY ->
              LOG.atInfo().addKeyValue("node", node).log("Node has not enough capacity left.");
          // forward has undone it
          case BROKEN -> reason = e;
          case REFUSED, EXISTS, UNCERTAIN -> throw e;
        }
      }
    }
    throw reason;
  }

  private List<String> possible(Placement placement) {
    List<String> possible = placement.among(nodes.names());
    if (possible.isEmpty()) {
      throw noNode(placement);
    }
    return possible;
  }

  private Map<String, Placement.NodeCapacity> capacities(
      List<String> possible, Map<String, String> parameters) {
    Map<String, Placement.NodeCapacity> capacities = new TreeMap<>();
    Map<String, Answer<GetCapacityResponse>> answers =
        nodes.callAll(possible, node -> node.capacity(parameters));
    String failure = "";
    for (Map.Entry<String, Answer<GetCapacityResponse>> each : answers.entrySet()) {
      switch (each.getValue()) {
        case Answer.Success(GetCapacityResponse response) ->
            capacities.put(each.getKey(), capacity(response));
        case Answer.Failure(RegistryException cause) -> {
          failure = cause.text();
          LOG.atWarn()
              .addKeyValue("node", each.getKey())
              .addKeyValue("cause", failure)
              .log("Node does not report its capacity.");
        }
      }
    }
    if (capacities.isEmpty()) {
      throw Unavailable.unreachable(possible, failure);
    }
    return capacities;
  }

  private static Placement.NodeCapacity capacity(GetCapacityResponse response) {
    return new Placement.NodeCapacity(
        response.getAvailableCapacity(),
        response.hasMaximumVolumeSize()
            ? response.getMaximumVolumeSize().getValue()
            : response.getAvailableCapacity());
  }

  /** With RESOURCE_EXHAUSTED the pod is scheduled to another node, which must be right to do. */
  private RegistryException noNode(Placement placement) {
    if (unreported.isSettling() || placement.allowed().isEmpty()) {
      return Unavailable.noNodes();
    }
    Set<String> known = new HashSet<>(locations.nodes());
    known.addAll(unreported.inventory());
    List<String> away = placement.among(known);
    if (!away.isEmpty()) {
      return Unavailable.notRegistered(String.join(", ", away));
    }
    return new RegistryException.InsufficientCapacity(
        "accessibility_requirements: the driver does not run on node %s"
            .formatted(
                String.join(", ", placement.allowed().orElseThrow().stream().sorted().toList())));
  }

  private static RegistryException insufficientCapacity(
      long required, Map<String, Placement.NodeCapacity> capacities) {
    Map.Entry<String, Placement.NodeCapacity> best =
        capacities.entrySet().stream()
            .max(Comparator.comparingLong(each -> each.getValue().largestVolume()))
            .orElseThrow();
    return new RegistryException.InsufficientCapacity(
        "not enough space for %d bytes: the largest volume is %d bytes, on node %s"
            .formatted(required, best.getValue().largestVolume(), best.getKey()));
  }

  private CreateVolumeResponse forward(String node, VolumeId id, CreateVolumeRequest request) {
    boolean reported = locations.isReported(node, id.value());
    boolean pending = locations.isPending(node, id.value());
    NodeClient client = nodes.find(node).orElseThrow(() -> Unavailable.notRegistered(node));
    // also of a volume that the node lists: the creation has no recorded end while it is pending
    List<String> others = reported && !pending ? List.of() : unreported.names();
    if (!reported) {
      locations.creating(node, id.value());
    }
    try {
      CreateVolumeResponse response = client.create(request);
      Volume volume = response.getVolume();
      // an earlier controller may have created it there: the deletion has to include these nodes
      others.forEach(other -> locations.creating(other, volume.getVolumeId()));
      locations.created(node, volume.getVolumeId(), volume.getCapacityBytes());
      return response;
    } catch (NodeFailed e) {
      if (!reported) {
        settle(node, id, e, pending);
      }
      throw e.onNode(node);
    }
  }

  /**
   * Records what a failure means for the volume.
   *
   * @param repeated whether an earlier call may have created it
   */
  private void settle(String node, VolumeId id, NodeFailed failure, boolean repeated) {
    switch (failure.createOutcome()) {
      case INSUFFICIENT_CAPACITY -> locations.absent(node, id.value());
      case REFUSED -> {
        // a node checks the request before it looks for the volume
        if (!repeated) {
          locations.absent(node, id.value());
        }
      }
      case BROKEN -> undo(node, id, failure.text());
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
    } catch (RegistryException e) {
      throw new RegistryException.Unfinished(
          "creating volume %s on node %s failed (%s) and is not undone yet: %s"
              .formatted(id, node, why, e.text()));
    }
    locations.absent(node, id.value());
  }
}
