package io.pmemcsi.operator.kinds.template;

import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Resources in conflict, and those that they wait for. It is filled by the first reconciliation of
 * each resource, also after a restart.
 */
final class WaitingResources {

  private final Map<ResourceID, Set<ResourceID>> winners = new ConcurrentHashMap<>();

  /**
   * Records the last decision about a resource.
   *
   * @param waitsFor empty if it is in no conflict
   */
  void record(ResourceID resource, Set<ResourceID> waitsFor) {
    if (waitsFor.isEmpty()) {
      winners.remove(resource);
    } else {
      winners.put(resource, Set.copyOf(waitsFor));
    }
  }

  boolean isWaiting(ResourceID resource) {
    return winners.containsKey(resource);
  }

  /** Those that wait for this one. */
  List<ResourceID> waitingFor(ResourceID winner) {
    return winners.entrySet().stream()
        .filter(entry -> entry.getValue().contains(winner))
        .map(Map.Entry::getKey)
        .toList();
  }
}
