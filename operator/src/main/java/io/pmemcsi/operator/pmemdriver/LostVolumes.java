package io.pmemcsi.operator.pmemdriver;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What the decision about nodes that do not exist any more depends on.
 *
 * @param volumes of the driver on nodes that do not exist
 * @param observedSince since when this operator has seen that a node does not exist: what happened
 *     before, while no operator ran, is not known
 */
public record LostVolumes(List<LostVolume> volumes, Map<String, Instant> observedSince) {

  public static final LostVolumes NONE = new LostVolumes(List.of(), Map.of());

  public LostVolumes {
    volumes = List.copyOf(volumes);
    observedSince = Map.copyOf(observedSince);
  }

  /**
   * What is observed now. Nothing is kept of a node that exists again or has no volumes any more.
   *
   * @param before since when this operator had seen at its last observation that a node does not
   *     exist
   */
  static LostVolumes of(List<LostVolume> volumes, Map<String, Instant> before, Instant now) {
    return new LostVolumes(
        volumes,
        volumes.stream()
            .map(LostVolume::node)
            .distinct()
            .collect(Collectors.toMap(node -> node, node -> before.getOrDefault(node, now))));
  }
}
