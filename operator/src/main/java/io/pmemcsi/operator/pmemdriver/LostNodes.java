package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.api.pmem.DeploymentCondition;
import io.pmemcsi.api.pmem.LostNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The decision about volumes on nodes that do not exist any more; pure.
 *
 * @param report the nodes for the status
 * @param due volumes that are released now
 */
public record LostNodes(List<LostNode> report, List<LostVolume> due) {

  /** A status must stay small; the volumes of further nodes are released after these. */
  static final int MAX_NODES = 50;

  private static final int FAILURES_TO_NAME = 3;

  public LostNodes {
    report = List.copyOf(report);
    due = List.copyOf(due);
  }

  /**
   * Decides what to report and what to release.
   *
   * @param before the report before: it knows since when a node does not exist
   * @param releaseAfter the grace period; without one nothing is released
   */
  public static LostNodes decide(
      LostVolumes lost, List<LostNode> before, Optional<Duration> releaseAfter, Instant now) {
    Map<String, Instant> since =
        before.stream().collect(Collectors.toMap(LostNode::node, LostNode::since));
    List<LostNode> report =
        lost.volumes().stream()
            .collect(Collectors.groupingBy(LostVolume::node, TreeMap::new, Collectors.toList()))
            .entrySet()
            .stream()
            .map(
                node ->
                    lost(node.getKey(), since.getOrDefault(node.getKey(), now), node.getValue()))
            .sorted(Comparator.comparing(LostNode::since).thenComparing(LostNode::node))
            .limit(MAX_NODES)
            .toList();
    Set<String> dueNodes =
        report.stream()
            .filter(
                node ->
                    releaseAfter
                        .filter(
                            after ->
                                isOver(node.since(), after, now)
                                    && isOver(
                                        lost.observedSince().getOrDefault(node.node(), now),
                                        after,
                                        now))
                        .isPresent())
            .map(LostNode::node)
            .collect(Collectors.toSet());
    return new LostNodes(
        report,
        lost.volumes().stream()
            .filter(volume -> dueNodes.contains(volume.node()))
            // a volume that is retained stays for the administrator
            .filter(volume -> volume.claim().isPresent() || volume.isDeletedWithClaim())
            .toList());
  }

  /**
   * The condition for a report.
   *
   * @param notReleased why volumes could not be released
   */
  static Optional<DeploymentCondition> condition(List<LostNode> report, List<String> notReleased) {
    int volumes = report.stream().mapToInt(node -> node.volumes().count()).sum();
    return report.isEmpty()
        ? Optional.empty()
        : Optional.of(
            PmemCondition.NODES_LOST.isTrue(
                "Volumes are bound to nodes that do not exist.",
                ("%d volumes are bound to nodes that do not exist any more (%s): see"
                        + " status.lostNodes. Create a Node again under its former name if its"
                        + " memory still exists; else delete pods, claims and volumes, or let"
                        + " spec.lostNodes.releaseAfter of a PmemCSIDeployment do it%s")
                    .formatted(
                        volumes,
                        report.stream().map(LostNode::node).collect(Collectors.joining(", ")),
                        describe(notReleased))));
  }

  private static String describe(List<String> notReleased) {
    if (notReleased.isEmpty()) {
      return "";
    }
    String more =
        notReleased.size() > FAILURES_TO_NAME
            ? " and %d more".formatted(notReleased.size() - FAILURES_TO_NAME)
            : "";
    return ". Cannot be released: "
        + notReleased.stream().limit(FAILURES_TO_NAME).collect(Collectors.joining("; "))
        + more;
  }

  private static boolean isOver(Instant since, Duration period, Instant now) {
    return !now.isBefore(since.plus(period));
  }

  private static LostNode lost(String node, Instant since, List<LostVolume> volumes) {
    return new LostNode(
        node,
        since,
        LostNode.Bound.of(volumes.stream().map(LostVolume::name).sorted().toList()),
        LostNode.Bound.of(
            volumes.stream().flatMap(volume -> volume.claimName().stream()).sorted().toList()),
        LostNode.Bound.of(
            volumes.stream()
                .flatMap(volume -> volume.pods().stream())
                .distinct()
                .sorted()
                .toList()));
  }
}
