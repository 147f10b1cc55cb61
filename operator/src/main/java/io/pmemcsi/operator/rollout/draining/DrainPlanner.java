package io.pmemcsi.operator.rollout.draining;

import io.pmemcsi.api.template.Draining;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides from what is there, and nothing else, what comes next. It remembers nothing: each step
 * follows from the cluster, and the marks on nodes add only since when and who cordoned. So it does
 * not matter which operator made the step before, or whether it got to its end.
 */
final class DrainPlanner {

  /** A scheduler may not have seen the cordon yet and put one more pod on the node. */
  static final Duration SETTLE = Duration.ofSeconds(2);

  private static final int NAMED = 3;

  private final NodeSnapshot fleet;
  private final Draining settings;
  private final Instant now;
  private final Optional<String> standstill;
  private final List<DrainAction> actions = new ArrayList<>();
  private final List<NodeReport> reports = new ArrayList<>();
  private String hindrance = "";

  private DrainPlanner(
      NodeSnapshot fleet, Draining settings, Instant now, Optional<String> standstill) {
    this.fleet = fleet;
    this.settings = settings;
    this.now = now;
    this.standstill = standstill;
  }

  /** The next actions of an update. */
  static Plan plan(NodeSnapshot fleet, Draining settings, Instant now) {
    return plan(fleet, settings, now, Optional.empty());
  }

  /**
   * The next actions of an update.
   *
   * @param standstill why no further node shall be begun; those in hand are brought to their end
   */
  static Plan plan(
      NodeSnapshot fleet, Draining settings, Instant now, Optional<String> standstill) {
    var planner = new DrainPlanner(fleet, settings, now, standstill);
    return fleet.revision().map(planner::plan).orElseGet(planner::unknownRevision);
  }

  /** The end of all work for an owner, wherever it stands: no node stays cordoned. */
  static List<DrainAction> release(NodeSnapshot fleet) {
    return fleet.nodes().stream()
        .filter(node -> node.mark().filter(mark -> mark.owner().equals(fleet.owner())).isPresent())
        .map(DrainPlanner::uncordon)
        .toList();
  }

  private Plan plan(String revision) {
    marked().forEach(node -> proceed(node, revision));
    begin(revision);
    return new Plan(actions, reports, hindrance, standstill.isPresent());
  }

  private Plan unknownRevision() {
    marked()
        .forEach(
            node -> {
              DrainAnnotation mark = node.mark().orElseThrow();
              reports.add(
                  NodeReport.at(node, mark.step(), mark.since())
                      .waitingFor("the DaemonSet controller has not seen the change yet", false));
            });
    return new Plan(actions, reports, hindrance, standstill.isPresent());
  }

  private Stream<WorkerNode> marked() {
    return fleet.nodes().stream().filter(node -> node.mark().isPresent());
  }

  private void proceed(WorkerNode node, String revision) {
    DrainAnnotation mark = node.mark().orElseThrow();
    if (!node.wanted() || node.isServed(revision)) {
      actions.add(uncordon(node));
      reports.add(NodeReport.at(node, Step.UNCORDONING, now));
      return;
    }
    if (!node.cordoned()) {
      // somebody lifted it while we need it: from here on it is ours
      cordon(node, true);
      return;
    }
    if (mark.since().isAfter(now)) {
      // by the clock of another operator, or before this one was set back: count from here
      actions.add(new DrainAction.Enter(node, at(now, mark)));
      reports.add(NodeReport.at(node, mark.step(), now));
      return;
    }
    if (mark.step() == Step.CORDONED && now.isBefore(mark.since().plus(SETTLE))) {
      reports.add(NodeReport.at(node, Step.CORDONED, mark.since()));
      return;
    }
    Step step = step(node, revision);
    DrainAnnotation current = current(mark, step);
    if (!current.equals(mark)) {
      actions.add(new DrainAction.Enter(node, current));
    }
    if (node.ready()) {
      act(node, step, revision);
    }
    boolean overdue = now.isAfter(current.since().plus(limit(step)));
    reports.add(
        NodeReport.at(node, step, current.since())
            .waitingFor(waiting(node, step, revision), overdue));
  }

  /** Users count as long as the old driver runs; later nothing can be done for them. */
  private static Step step(WorkerNode node, String revision) {
    if (node.isOutdated(revision)) {
      return !node.users().isEmpty()
          ? Step.EVICTING
          : !node.mounted().isEmpty() ? Step.UNMOUNTING : Step.RESTARTING;
    }
    boolean onlyNew =
        !node.drivers().isEmpty() && node.drivers().stream().allMatch(pod -> pod.runs(revision));
    return onlyNew ? Step.REGISTERING : Step.RESTARTING;
  }

  /** Being ready and being registered share one time limit. */
  private DrainAnnotation current(DrainAnnotation mark, Step step) {
    Instant since =
        mark.step() == step || (mark.step() == Step.RESTARTING && step == Step.REGISTERING)
            ? mark.since()
            : now;
    return new DrainAnnotation(fleet.owner(), fleet.resource(), step, since, mark.cordoned());
  }

  private static DrainAnnotation at(Instant since, DrainAnnotation mark) {
    return new DrainAnnotation(mark.owner(), mark.resource(), mark.step(), since, mark.cordoned());
  }

  private void act(WorkerNode node, Step step, String revision) {
    switch (step) {
      case EVICTING ->
          node.users().stream()
              .filter(pod -> !pod.leaving())
              .filter(pod -> pod.isEvictable(settings.evictsUnmanagedPods()))
              .forEach(pod -> actions.add(new DrainAction.Evict(node, pod)));
      case RESTARTING ->
          node.drivers().stream()
              .filter(pod -> pod.isOutdated(revision))
              .forEach(pod -> actions.add(new DrainAction.RestartDriver(node, pod)));
      case CORDONED, UNMOUNTING, REGISTERING, UNCORDONING -> {}
    }
  }

  private void begin(String revision) {
    List<WorkerNode> candidates =
        fleet.nodes().stream()
            .filter(node -> node.mark().isEmpty() && node.isOutdated(revision))
            .sorted(
                Comparator.comparing((WorkerNode node) -> !node.isUnused())
                    .thenComparing(WorkerNode::name))
            .toList();
    List<String> broken =
        fleet.nodes().stream()
            .filter(node -> node.mark().isEmpty() && node.wanted() && node.ready())
            .filter(node -> !node.isOutdated(revision) && !node.isServed(revision))
            .map(WorkerNode::name)
            .sorted()
            .toList();
    boolean overdue = reports.stream().anyMatch(NodeReport::overdue);
    long free =
        overdue || standstill.isPresent()
            ? 0
            : settings.parallelNodesOrDefault() - marked().count() - broken.size();
    if (!candidates.isEmpty() && free <= 0 && !broken.isEmpty()) {
      hindrance =
          "the driver of the wanted revision is not ready and registered on %s"
              .formatted(some(broken));
    }
    hindrance = standstill.orElse(hindrance);
    for (WorkerNode node : candidates) {
      Optional<String> obstacle = obstacle(node);
      if (obstacle.isPresent()) {
        reports.add(NodeReport.blocked(node, obstacle.get()));
      } else if (free > 0) {
        free--;
        cordon(node, !node.cordoned() || node.sharedCordon());
      } else {
        reports.add(NodeReport.idle(node));
      }
    }
  }

  /** What makes it useless to cordon the node at all. */
  private Optional<String> obstacle(WorkerNode node) {
    if (!node.ready()) {
      return Optional.of("the node is not ready");
    }
    return node.users().stream()
        .flatMap(pod -> pod.obstacle(settings.evictsUnmanagedPods()).stream())
        .findFirst();
  }

  private void cordon(WorkerNode node, boolean ours) {
    actions.add(
        new DrainAction.Cordon(
            node, new DrainAnnotation(fleet.owner(), fleet.resource(), Step.CORDONED, now, ours)));
    reports.add(NodeReport.at(node, Step.CORDONED, now));
  }

  private static DrainAction uncordon(WorkerNode node) {
    boolean ours = node.mark().orElseThrow().cordoned() && !node.sharedCordon();
    return new DrainAction.Uncordon(node, ours);
  }

  private Duration limit(Step step) {
    return Duration.ofSeconds(
        switch (step) {
          case CORDONED, EVICTING -> settings.evictionTimeoutSecondsOrDefault();
          case UNMOUNTING -> settings.unmountTimeoutSecondsOrDefault();
          case RESTARTING, REGISTERING, UNCORDONING -> settings.restartTimeoutSecondsOrDefault();
        });
  }

  private String waiting(WorkerNode node, Step step, String revision) {
    if (!node.ready()) {
      return "the node is not ready";
    }
    return switch (step) {
      case EVICTING ->
          obstacle(node)
              .orElseGet(
                  () ->
                      "pods shall leave: "
                          + some(node.users().stream().map(VolumeConsumer::title).toList()));
      case UNMOUNTING -> "volumes are still mounted or attached: " + some(node.mounted());
      case RESTARTING -> "the driver pod is not ready: " + drivers(node, revision);
      case REGISTERING -> "kubelet has not registered the driver yet (CSINode)";
      case CORDONED, UNCORDONING -> "";
    };
  }

  private static String drivers(WorkerNode node, String revision) {
    return node.drivers().isEmpty()
        ? "the DaemonSet has not made it yet"
        : node.drivers().stream()
            .map(
                pod ->
                    pod.name()
                        + (pod.terminating()
                            ? " is terminating"
                            : pod.revision().equals(revision) ? " is starting" : " is outdated"))
            .collect(Collectors.joining(", "));
  }

  /** The first names, and how many more there are. */
  static String some(List<String> names) {
    String first = String.join(", ", names.subList(0, Math.min(NAMED, names.size())));
    return names.size() > NAMED ? "%s and %d more".formatted(first, names.size() - NAMED) : first;
  }
}
