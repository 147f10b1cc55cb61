package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.pmemcsi.operator.facts.Paging;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds volumes on nodes that do not exist. All drivers share one read of the volumes, which counts
 * for a minute unless another node was deleted: a watch of all volumes of the cluster would need
 * much memory for what happens seldom.
 */
final class LostVolumesReader {

  private static final Duration MAX_AGE = Duration.ofMinutes(1);

  private final Clock clock;
  private Snapshot snapshot = new Snapshot(Set.of(), Instant.EPOCH, List.of());

  private record Snapshot(Set<String> nodes, Instant readAt, List<LostVolume> volumes) {}

  LostVolumesReader(Clock clock) {
    this.clock = clock;
  }

  /**
   * The volumes of a driver, with the pods that use them.
   *
   * @param nodes that exist
   */
  List<LostVolume> read(String driver, Set<String> nodes, KubernetesClient client) {
    List<LostVolume> volumes =
        volumes(nodes, client).stream()
            .filter(volume -> volume.driver().equals(driver) && !nodes.contains(volume.node()))
            .toList();
    Map<String, List<String>> users = users(volumes, client);
    return volumes.stream()
        .map(
            volume ->
                volume.usedBy(
                    volume.claimName().map(users::get).map(List::copyOf).orElse(List.of())))
        .toList();
  }

  private synchronized List<LostVolume> volumes(Set<String> nodes, KubernetesClient client) {
    Instant now = clock.instant();
    if (!nodes.containsAll(snapshot.nodes())
        || now.isBefore(snapshot.readAt())
        || now.isAfter(snapshot.readAt().plus(MAX_AGE))) {
      snapshot =
          new Snapshot(
              Set.copyOf(nodes),
              now,
              Paging.fold(
                  client.persistentVolumes()::list,
                  ArrayList<LostVolume>::new,
                  (found, page) -> {
                    found.addAll(lost(page, nodes));
                    return found;
                  }));
    }
    return snapshot.volumes();
  }

  private static List<LostVolume> lost(List<PersistentVolume> volumes, Set<String> nodes) {
    return volumes.stream()
        .flatMap(volume -> LostVolume.of(volume).stream())
        .filter(volume -> !nodes.contains(volume.node()))
        .toList();
  }

  /** Names of pods by the claims that they use. */
  private static Map<String, List<String>> users(
      List<LostVolume> volumes, KubernetesClient client) {
    Set<String> namespaces =
        volumes.stream()
            .flatMap(volume -> volume.claim().stream())
            .map(ObjectReference::getNamespace)
            .collect(Collectors.toSet());
    Map<String, List<String>> users = new HashMap<>();
    for (String namespace : namespaces) {
      Paging.fold(
          client.pods().inNamespace(namespace)::list,
          () -> users,
          (all, page) -> {
            for (Pod pod : page) {
              String name = namespace + "/" + pod.getMetadata().getName();
              claims(pod)
                  .forEach(
                      claim ->
                          all.computeIfAbsent(namespace + "/" + claim, _ -> new ArrayList<>())
                              .add(name));
            }
            return all;
          });
    }
    return users;
  }

  private static Stream<String> claims(Pod pod) {
    return pod.getSpec().getVolumes().stream()
        .flatMap(
            volume ->
                volume.getPersistentVolumeClaim() != null
                    ? Stream.of(volume.getPersistentVolumeClaim().getClaimName())
                    : volume.getEphemeral() != null
                        // the name that Kubernetes gives to the claim of an ephemeral volume
                        ? Stream.of(pod.getMetadata().getName() + "-" + volume.getName())
                        : Stream.empty());
  }
}
