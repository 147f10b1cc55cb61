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

/** What the status of a resource says about the update of its nodes. */
final class UpdateStatus {

  private UpdateStatus() {}

  /** From the counts that the DaemonSet controller keeps. */
  static NodeUpdate counted(DaemonSet daemonSet) {
    int nodes = number(daemonSet.getStatus().getDesiredNumberScheduled());
    int updated = number(daemonSet.getStatus().getUpdatedNumberScheduled());
    return new NodeUpdate(
        null,
        nodes,
        updated,
        null,
        updated < nodes
            ? "%d of %d nodes run the wanted revision.".formatted(updated, nodes)
            : null,
        List.of());
  }

  /**
   * While nothing is begun.
   *
   * @param why what is in the way
   */
  static NodeUpdate standing(DaemonSet daemonSet, String why) {
    NodeUpdate counted = counted(daemonSet);
    return new NodeUpdate(
        null, counted.nodes(), counted.updatedNodes(), true, "Waiting: " + why, List.of());
  }

  /**
   * While the operator drains.
   *
   * @param refusals by node, what went wrong when the plan was carried out
   */
  static NodeUpdate draining(NodeSnapshot fleet, Plan plan, Map<String, String> refusals) {
    List<NodeReport> sorted =
        plan.reports().stream()
            .sorted(
                Comparator.comparing((NodeReport report) -> report.step().isEmpty())
                    .thenComparing(report -> report.node().name()))
            .toList();
    return new NodeUpdate(
        fleet.revision().orElse(null),
        nodes(fleet),
        updated(fleet),
        plan.isPaused() ? true : null,
        message(plan, sorted, refusals).orElse(null),
        sorted.stream()
            .map(
                report ->
                    new OutdatedNode(
                        report.node().name(),
                        revision(report.node(), fleet),
                        report.node().isUnused(),
                        report.step().map(Step::text).orElse(null),
                        report.since().orElse(null),
                        text(report, refusals)))
            .toList());
  }

  /** Where somebody else deletes the pods: who is left, and who may go. */
  static NodeUpdate onDelete(NodeSnapshot fleet) {
    List<WorkerNode> outdated =
        fleet.revision().stream()
            .flatMap(revision -> fleet.nodes().stream().filter(node -> node.isOutdated(revision)))
            .sorted(Comparator.comparing(WorkerNode::name))
            .toList();
    long safe = outdated.stream().filter(WorkerNode::isUnused).count();
    return new NodeUpdate(
        fleet.revision().orElse(null),
        nodes(fleet),
        updated(fleet),
        null,
        outdated.isEmpty()
            ? null
            : ("%d of %d nodes run an older revision; on %d of them nothing is mounted and the"
                    + " driver pod can be deleted now.")
                .formatted(outdated.size(), nodes(fleet), safe),
        outdated.stream()
            .map(
                node ->
                    new OutdatedNode(
                        node.name(),
                        revision(node, fleet),
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
    if (!node.users().isEmpty()) {
      return "pods use volumes: "
          + DrainPlanner.some(node.users().stream().map(VolumeConsumer::title).toList());
    }
    return node.mounted().isEmpty()
        ? null
        : "volumes are still mounted or attached: " + DrainPlanner.some(node.mounted());
  }

  private static Optional<String> message(
      Plan plan, List<NodeReport> sorted, Map<String, String> refusals) {
    if (plan.isFinished()) {
      return Optional.empty();
    }
    var parts = new ArrayList<String>();
    if (plan.isBusy()) {
      List<NodeReport> overdue = sorted.stream().filter(NodeReport::overdue).toList();
      parts.add(overdue.isEmpty() ? "Updating" : "Waiting longer than allowed for");
      parts.add(
          DrainPlanner.some(
              (overdue.isEmpty() ? sorted : overdue)
                  .stream()
                      .filter(report -> report.step().isPresent())
                      .map(report -> title(report, refusals))
                      .toList()));
      if (plan.stopped()) {
        parts.add("and then no other node: " + plan.hindrance());
      }
    } else if (!plan.hindrance().isEmpty()) {
      parts.add("Waiting: " + plan.hindrance());
    } else {
      parts.add("No node can be updated now:");
      parts.add(DrainPlanner.some(sorted.stream().map(report -> title(report, refusals)).toList()));
    }
    return Optional.of(String.join(" ", parts));
  }

  private static String title(NodeReport report, Map<String, String> refusals) {
    String text = text(report, refusals);
    return report.node().name() + (text == null ? "" : " (" + text + ")");
  }

  private static @Nullable String text(NodeReport report, Map<String, String> refusals) {
    String refusal = refusals.get(report.node().name());
    return refusal != null ? refusal : report.waiting().orElse(null);
  }

  private static int nodes(NodeSnapshot fleet) {
    return (int) fleet.nodes().stream().filter(WorkerNode::wanted).count();
  }

  private static int updated(NodeSnapshot fleet) {
    return fleet
        .revision()
        .map(
            revision ->
                (int) fleet.nodes().stream().filter(node -> node.runsRevision(revision)).count())
        .orElse(0);
  }

  /** The revision that is on its way out, or else the one that is there. */
  private static @Nullable String revision(WorkerNode node, NodeSnapshot fleet) {
    return node.drivers().stream()
        .map(DriverPod::revision)
        .min(Comparator.comparing(fleet.revision().orElse("")::equals))
        .orElse(null);
  }

  private static int number(@Nullable Integer value) {
    return value == null ? 0 : value;
  }
}
