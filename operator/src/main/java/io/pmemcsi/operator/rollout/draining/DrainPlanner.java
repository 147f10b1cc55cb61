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
 * Decides the next actions from a snapshot alone: each step follows from the state of the cluster,
 * and the annotation of a node adds only when the step began and who cordoned the node. So any
 * operator can continue at any point, whether or not the actions before were completed.
 */
final class DrainPlanner {

  /** The scheduler may not have observed the cordon yet and may bind one more pod. */
  static final Duration SETTLE = Duration.ofSeconds(2);

  private static final int MAX_NAMES = 3;

  private final NodeSnapshot snapshot;
  private final Draining settings;
  private final Instant now;
  private final Optional<String> pauseReason;
  private final List<DrainAction> actions = new ArrayList<>();
  private final List<NodeReport> reports = new ArrayList<>();
  private String blocker = "";

  private DrainPlanner(
      NodeSnapshot snapshot, Draining settings, Instant now, Optional<String> pauseReason) {
    this.snapshot = snapshot;
    this.settings = settings;
    this.now = now;
    this.pauseReason = pauseReason;
  }

  /** The next actions of an update. */
  static DrainPlan plan(NodeSnapshot snapshot, Draining settings, Instant now) {
    return plan(snapshot, settings, now, Optional.empty());
  }

  /**
   * The next actions of an update.
   *
   * @param pauseReason why no further node may start; nodes in progress are completed
   */
  static DrainPlan plan(
      NodeSnapshot snapshot, Draining settings, Instant now, Optional<String> pauseReason) {
    var planner = new DrainPlanner(snapshot, settings, now, pauseReason);
    return snapshot.revision().map(planner::plan).orElseGet(planner::unknownRevision);
  }

  /** Ends the update of an owner in any state: no node stays cordoned. */
  static List<DrainAction> release(NodeSnapshot snapshot) {
    return snapshot.nodes().stream()
        .filter(
            node ->
                node.annotation()
                    .filter(annotation -> annotation.owner().equals(snapshot.owner()))
                    .isPresent())
        .map(DrainPlanner::uncordon)
        .toList();
  }

  private DrainPlan plan(String revision) {
    inProgress().forEach(node -> proceed(node, revision));
    start(revision);
    return new DrainPlan(actions, reports, blocker, pauseReason.isPresent());
  }

  private DrainPlan unknownRevision() {
    inProgress()
        .forEach(
            node -> {
              DrainAnnotation annotation = node.annotation().orElseThrow();
              reports.add(
                  NodeReport.at(node, annotation.step(), annotation.since())
                      .waitingFor(
                          "the DaemonSet controller has not observed the change yet", false));
            });
    return new DrainPlan(actions, reports, blocker, pauseReason.isPresent());
  }

  private Stream<WorkerNode> inProgress() {
    return snapshot.nodes().stream().filter(node -> node.annotation().isPresent());
  }

  private void proceed(WorkerNode node, String revision) {
    DrainAnnotation annotation = node.annotation().orElseThrow();
    if (!node.desired() || node.isServed(revision)) {
      actions.add(uncordon(node));
      reports.add(NodeReport.at(node, Step.UNCORDONING, now));
      return;
    }
    if (!node.cordoned()) {
      // uncordoned while the update needs it: from now on the cordon is the operator's
      cordon(node, true);
      return;
    }
    if (annotation.since().isAfter(now)) {
      // written by an operator with another clock, or before the clock was set back
      actions.add(new DrainAction.SetStep(node, at(now, annotation)));
      reports.add(NodeReport.at(node, annotation.step(), now));
      return;
    }
    if (annotation.step() == Step.CORDONED && now.isBefore(annotation.since().plus(SETTLE))) {
      reports.add(NodeReport.at(node, Step.CORDONED, annotation.since()));
      return;
    }
    Step step = step(node, revision);
    DrainAnnotation current = current(annotation, step);
    if (!current.equals(annotation)) {
      actions.add(new DrainAction.SetStep(node, current));
    }
    if (node.ready()) {
      act(node, step, revision);
    }
    boolean overdue = now.isAfter(current.since().plus(timeout(step)));
    reports.add(
        NodeReport.at(node, step, current.since())
            .waitingFor(waiting(node, step, revision), overdue));
  }

  /** Consumers matter only while the old driver pod runs. */
  private static Step step(WorkerNode node, String revision) {
    if (node.isOutdated(revision)) {
      return !node.consumers().isEmpty()
          ? Step.EVICTING
          : !node.mounted().isEmpty() ? Step.UNMOUNTING : Step.RESTARTING;
    }
    boolean onlyNew =
        !node.driverPods().isEmpty()
            && node.driverPods().stream().allMatch(pod -> pod.runs(revision));
    return onlyNew ? Step.REGISTERING : Step.RESTARTING;
  }

  /** Restart and registration share one timeout. */
  private DrainAnnotation current(DrainAnnotation annotation, Step step) {
    Instant since =
        annotation.step() == step
                || (annotation.step() == Step.RESTARTING && step == Step.REGISTERING)
            ? annotation.since()
            : now;
    return new DrainAnnotation(
        snapshot.owner(), snapshot.resource(), step, since, annotation.cordoned());
  }

  private static DrainAnnotation at(Instant since, DrainAnnotation annotation) {
    return new DrainAnnotation(
        annotation.owner(), annotation.resource(), annotation.step(), since, annotation.cordoned());
  }

  private void act(WorkerNode node, Step step, String revision) {
    switch (step) {
      case EVICTING ->
          node.consumers().stream()
              .filter(pod -> !pod.terminating())
              .filter(pod -> pod.isEvictable(settings.evictsUnmanagedPods()))
              .forEach(pod -> actions.add(new DrainAction.Evict(node, pod)));
      case RESTARTING ->
          node.driverPods().stream()
              .filter(pod -> pod.isOutdated(revision))
              .forEach(pod -> actions.add(new DrainAction.RestartDriver(node, pod)));
      case CORDONED, UNMOUNTING, REGISTERING, UNCORDONING -> {}
    }
  }

  private void start(String revision) {
    List<WorkerNode> candidates =
        snapshot.nodes().stream()
            .filter(node -> node.annotation().isEmpty() && node.isOutdated(revision))
            .sorted(
                Comparator.comparing((WorkerNode node) -> !node.isUnused())
                    .thenComparing(WorkerNode::name))
            .toList();
    List<String> broken =
        snapshot.nodes().stream()
            .filter(node -> node.annotation().isEmpty() && node.desired() && node.ready())
            .filter(node -> !node.isOutdated(revision) && !node.isServed(revision))
            .map(WorkerNode::name)
            .sorted()
            .toList();
    boolean overdue = reports.stream().anyMatch(NodeReport::overdue);
    long free =
        overdue || pauseReason.isPresent()
            ? 0
            : settings.parallelNodesOrDefault() - inProgress().count() - broken.size();
    if (!candidates.isEmpty() && free <= 0 && !broken.isEmpty()) {
      blocker =
          "the driver of the desired revision is not ready and registered on %s"
              .formatted(abbreviate(broken));
    }
    blocker = pauseReason.orElse(blocker);
    for (WorkerNode node : candidates) {
      Optional<String> blocker = blocker(node);
      if (blocker.isPresent()) {
        reports.add(NodeReport.blocked(node, blocker.get()));
      } else if (free > 0) {
        free--;
        cordon(node, !node.cordoned() || node.sharedCordon());
      } else {
        reports.add(NodeReport.idle(node));
      }
    }
  }

  /** Why it is useless to cordon the node. */
  private Optional<String> blocker(WorkerNode node) {
    if (!node.ready()) {
      return Optional.of("the node is not ready");
    }
    return node.consumers().stream()
        .flatMap(pod -> pod.blocker(settings.evictsUnmanagedPods()).stream())
        .findFirst();
  }

  private void cordon(WorkerNode node, boolean byOperator) {
    actions.add(
        new DrainAction.Cordon(
            node,
            new DrainAnnotation(
                snapshot.owner(), snapshot.resource(), Step.CORDONED, now, byOperator)));
    reports.add(NodeReport.at(node, Step.CORDONED, now));
  }

  private static DrainAction uncordon(WorkerNode node) {
    boolean schedulable = node.annotation().orElseThrow().cordoned() && !node.sharedCordon();
    return new DrainAction.Uncordon(node, schedulable);
  }

  private Duration timeout(Step step) {
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
          blocker(node)
              .orElseGet(
                  () ->
                      "waiting for evicted pods to terminate: "
                          + abbreviate(
                              node.consumers().stream()
                                  .map(VolumeConsumer::qualifiedName)
                                  .toList()));
      case UNMOUNTING -> "volumes are still mounted or attached: " + abbreviate(node.mounted());
      case RESTARTING -> "the driver pod is not ready: " + drivers(node, revision);
      case REGISTERING -> "kubelet has not registered the driver yet (CSINode)";
      case CORDONED, UNCORDONING -> "";
    };
  }

  private static String drivers(WorkerNode node, String revision) {
    return node.driverPods().isEmpty()
        ? "the DaemonSet controller has not created it yet"
        : node.driverPods().stream()
            .map(
                pod ->
                    pod.name()
                        + (pod.terminating()
                            ? " is terminating"
                            : pod.revision().equals(revision) ? " is starting" : " is outdated"))
            .collect(Collectors.joining(", "));
  }

  /** The first names, and the number of the others. */
  static String abbreviate(List<String> names) {
    String first = String.join(", ", names.subList(0, Math.min(MAX_NAMES, names.size())));
    return names.size() > MAX_NAMES
        ? "%s and %d more".formatted(first, names.size() - MAX_NAMES)
        : first;
  }
}
