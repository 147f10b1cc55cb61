package io.pmemcsi.operator.rollout.draining;

import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.OutdatedNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Maps the progress of an update to the status of its resource. */
final class UpdateStatus {

  private UpdateStatus() {}

  /** From the status of the DaemonSet. */
  static NodeUpdate counted(DaemonSet daemonSet) {
    int nodes = number(daemonSet.getStatus().getDesiredNumberScheduled());
    int updated = number(daemonSet.getStatus().getUpdatedNumberScheduled());
    return new NodeUpdate(
        null,
        nodes,
        updated,
        null,
        updated < nodes
            ? "%d of %d nodes run the desired revision.".formatted(updated, nodes)
            : null,
        List.of());
  }

  /**
   * While no node is in progress and none may start.
   *
   * @param reason why not
   */
  static NodeUpdate paused(DaemonSet daemonSet, String reason) {
    NodeUpdate counted = counted(daemonSet);
    return new NodeUpdate(
        null, counted.nodes(), counted.updatedNodes(), true, "Waiting: " + reason, List.of());
  }

  /**
   * While the operator drains nodes.
   *
   * @param refusals by node, errors of the plan's actions
   */
  static NodeUpdate draining(NodeSnapshot snapshot, DrainPlan plan, Map<String, String> refusals) {
    List<NodeReport> sorted =
        plan.reports().stream()
            .sorted(
                Comparator.comparing((NodeReport report) -> report.step().isEmpty())
                    .thenComparing(report -> report.node().name()))
            .toList();
    return new NodeUpdate(
        snapshot.revision().orElse(null),
        nodes(snapshot),
        updated(snapshot),
        plan.isPaused() ? true : null,
        message(plan, sorted, refusals).orElse(null),
        sorted.stream()
            .map(
                report ->
                    new OutdatedNode(
                        report.node().name(),
                        revision(report.node(), snapshot),
                        report.node().isUnused(),
                        report.step().map(Step::text).orElse(null),
                        report.since().orElse(null),
                        text(report, refusals)))
            .toList());
  }

  /** Where users delete driver pods: the outdated nodes, and which are safe to restart. */
  static NodeUpdate onDelete(NodeSnapshot snapshot) {
    List<WorkerNode> outdated =
        snapshot.revision().stream()
            .flatMap(
                revision -> snapshot.nodes().stream().filter(node -> node.isOutdated(revision)))
            .sorted(Comparator.comparing(WorkerNode::name))
            .toList();
    long safe = outdated.stream().filter(WorkerNode::isUnused).count();
    return new NodeUpdate(
        snapshot.revision().orElse(null),
        nodes(snapshot),
        updated(snapshot),
        null,
        outdated.isEmpty()
            ? null
            : ("%d of %d nodes run an older revision; on %d of them nothing is mounted and the"
                    + " driver pod can be deleted now.")
                .formatted(outdated.size(), nodes(snapshot), safe),
        outdated.stream()
            .map(
                node ->
                    new OutdatedNode(
                        node.name(),
                        revision(node, snapshot),
                        node.isUnused(),
                        null,
                        null,
                        inUse(node)))
            .toList());
  }

  private static @Nullable String inUse(WorkerNode node) {
    if (!node.ready()) {
      return "the node is not ready";
    }
    if (!node.consumers().isEmpty()) {
      return "pods use volumes: "
          + DrainPlanner.abbreviate(
              node.consumers().stream().map(VolumeConsumer::qualifiedName).toList());
    }
    return node.mounted().isEmpty()
        ? null
        : "volumes are still mounted or attached: " + DrainPlanner.abbreviate(node.mounted());
  }

  private static Optional<String> message(
      DrainPlan plan, List<NodeReport> sorted, Map<String, String> refusals) {
    if (plan.isFinished()) {
      return Optional.empty();
    }
    var parts = new ArrayList<String>();
    if (plan.isBusy()) {
      List<NodeReport> overdue = sorted.stream().filter(NodeReport::overdue).toList();
      parts.add(overdue.isEmpty() ? "Updating" : "Waiting longer than allowed for");
      parts.add(
          DrainPlanner.abbreviate(
              (overdue.isEmpty() ? sorted : overdue)
                  .stream()
                      .filter(report -> report.step().isPresent())
                      .map(report -> describe(report, refusals))
                      .toList()));
      if (plan.paused()) {
        parts.add("and then no other node: " + plan.blocker());
      }
    } else if (!plan.blocker().isEmpty()) {
      parts.add("Waiting: " + plan.blocker());
    } else {
      parts.add("No node can be updated now:");
      parts.add(
          DrainPlanner.abbreviate(
              sorted.stream().map(report -> describe(report, refusals)).toList()));
    }
    return Optional.of(String.join(" ", parts));
  }

  private static String describe(NodeReport report, Map<String, String> refusals) {
    String text = text(report, refusals);
    return report.node().name() + (text == null ? "" : " (" + text + ")");
  }

  private static @Nullable String text(NodeReport report, Map<String, String> refusals) {
    String refusal = refusals.get(report.node().name());
    return refusal != null ? refusal : report.waiting().orElse(null);
  }

  private static int nodes(NodeSnapshot snapshot) {
    return (int) snapshot.nodes().stream().filter(WorkerNode::desired).count();
  }

  private static int updated(NodeSnapshot snapshot) {
    return snapshot
        .revision()
        .map(
            revision ->
                (int) snapshot.nodes().stream().filter(node -> node.runsRevision(revision)).count())
        .orElse(0);
  }

  /** The outdated revision if there is one, otherwise the current one. */
  private static @Nullable String revision(WorkerNode node, NodeSnapshot snapshot) {
    return node.driverPods().stream()
        .map(DriverPod::revision)
        .min(Comparator.comparing(snapshot.revision().orElse("")::equals))
        .orElse(null);
  }

  private static int number(@Nullable Integer value) {
    return value == null ? 0 : value;
  }
}
