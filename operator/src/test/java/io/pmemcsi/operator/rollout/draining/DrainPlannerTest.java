package io.pmemcsi.operator.rollout.draining;

import static io.pmemcsi.operator.rollout.draining.TestNodes.NEW;
import static io.pmemcsi.operator.rollout.draining.TestNodes.OLD;
import static io.pmemcsi.operator.rollout.draining.TestNodes.OWNER;
import static io.pmemcsi.operator.rollout.draining.TestNodes.driver;
import static io.pmemcsi.operator.rollout.draining.TestNodes.node;
import static io.pmemcsi.operator.rollout.draining.TestNodes.snapshot;
import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.api.template.Draining;
import io.pmemcsi.api.template.NodeUpdate;
import io.pmemcsi.api.template.OutdatedNode;
import io.pmemcsi.operator.rollout.draining.VolumeConsumer.Origin;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DrainPlannerTest {

  private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");
  private static final Instant BEFORE = NOW.minusSeconds(100);
  private static final Draining TWO_NODES = new Draining(2, 60, 60, 60, null);
  private static final Draining ONE_NODE = new Draining(1, 600, 600, 600, null);

  @Test
  void nothingIsPlannedWhenEveryNodeRunsTheDesiredRevision() {
    NodeSnapshot snapshot = snapshot(node("a").updated().build(), node("b").updated().build());
    DrainPlan plan = DrainPlanner.plan(snapshot, ONE_NODE, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(plan.isFinished()).isTrue();
    assertThat(UpdateStatus.draining(snapshot, plan, Map.of()))
        .isEqualTo(new NodeUpdate(NEW, 2, 2, null, null, List.of()));
  }

  @Test
  void asManyNodesAsAllowedAreStartedUnusedOnesFirst() {
    WorkerNode used = node("a").user("web", Origin.CONTROLLER).build();
    WorkerNode unused = node("b").build();
    WorkerNode later = node("c").user("web", Origin.CONTROLLER).build();

    assertThat(DrainPlanner.plan(snapshot(used, unused, later), TWO_NODES, NOW).actions())
        .containsExactly(
            new DrainAction.Cordon(unused, annotation(Step.CORDONED, NOW, true)),
            new DrainAction.Cordon(used, annotation(Step.CORDONED, NOW, true)));
    assertThat(DrainPlanner.plan(snapshot(used, unused, later), ONE_NODE, NOW).actions())
        .hasSize(1);
  }

  @Test
  void evictionStartsOnceTheSchedulerHasObservedTheCordon() {
    WorkerNode node =
        node("a")
            .cordoned()
            .annotation(annotation(Step.CORDONED, NOW.minusMillis(1500), true))
            .user("web", Origin.CONTROLLER)
            .build();

    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW).actions()).isEmpty();
    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW.plusSeconds(1)).actions())
        .hasAtLeastOneElementOfType(DrainAction.Evict.class);
  }

  /** Written by an operator with another clock, or before the clock was set back. */
  @Test
  void timeInTheFutureIsReplacedByNow() {
    for (Step step : List.of(Step.CORDONED, Step.EVICTING)) {
      var node = node("a").cordoned().user("web", Origin.CONTROLLER);
      WorkerNode annotated = node.annotation(annotation(step, NOW.plusSeconds(3600), true)).build();

      assertThat(DrainPlanner.plan(snapshot(annotated), ONE_NODE, NOW).actions())
          .containsExactly(new DrainAction.SetStep(annotated, annotation(step, NOW, true)));
    }
  }

  @Test
  void consumersAreEvictedOnce() {
    WorkerNode node =
        node("a")
            .cordoned()
            .annotation(annotation(Step.CORDONED, BEFORE, true))
            .user("web", Origin.CONTROLLER)
            .terminating("terminating")
            .mounted("volume x")
            .build();

    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW).actions())
        .containsExactly(
            new DrainAction.SetStep(node, annotation(Step.EVICTING, NOW, true)),
            new DrainAction.Evict(node, node.consumers().getFirst()));
  }

  @Test
  void driverStaysWhileVolumesAreMountedOrAttached() {
    WorkerNode node =
        node("a")
            .cordoned()
            .annotation(annotation(Step.EVICTING, BEFORE, true))
            .mounted("VolumeAttachment csi-1")
            .build();
    DrainPlan plan = DrainPlanner.plan(snapshot(node), ONE_NODE, NOW);

    assertThat(plan.actions())
        .containsExactly(new DrainAction.SetStep(node, annotation(Step.UNMOUNTING, NOW, true)));
    assertThat(UpdateStatus.draining(snapshot(node), plan, Map.of()).message())
        .isEqualTo("Updating a (volumes are still mounted or attached: VolumeAttachment csi-1)");
  }

  @Test
  void driverIsRestartedWhenNoVolumeIsLeft() {
    WorkerNode node =
        node("a").cordoned().annotation(annotation(Step.UNMOUNTING, BEFORE, true)).build();

    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW).actions())
        .containsExactly(
            new DrainAction.SetStep(node, annotation(Step.RESTARTING, NOW, true)),
            new DrainAction.RestartDriver(node, driver("a", OLD, true, false)));
  }

  @Test
  void newDriverMustBeReadyAndRegistered() {
    var starting =
        node("a")
            .cordoned()
            .annotation(annotation(Step.RESTARTING, BEFORE, true))
            .driverPods(driver("a", OLD, false, true), driver("a", NEW, false, false))
            .build();
    var unknown =
        node("a")
            .cordoned()
            .annotation(annotation(Step.RESTARTING, BEFORE, true))
            .updated()
            .unregistered()
            .build();

    assertThat(DrainPlanner.plan(snapshot(starting), ONE_NODE, NOW).actions()).isEmpty();
    assertThat(DrainPlanner.plan(snapshot(unknown), ONE_NODE, NOW).actions())
        .containsExactly(
            new DrainAction.SetStep(unknown, annotation(Step.REGISTERING, BEFORE, true)));
  }

  @Test
  void nodeIsReleasedOnceTheNewDriverServes() {
    WorkerNode node =
        node("a")
            .cordoned()
            .annotation(annotation(Step.REGISTERING, BEFORE, true))
            .updated()
            .build();

    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(node, true));
  }

  @Test
  void cordonOfAUserStays() {
    WorkerNode begin = node("a").cordoned().build();
    WorkerNode end =
        node("a")
            .cordoned()
            .annotation(annotation(Step.REGISTERING, BEFORE, false))
            .updated()
            .build();

    assertThat(DrainPlanner.plan(snapshot(begin), ONE_NODE, NOW).actions())
        .containsExactly(new DrainAction.Cordon(begin, annotation(Step.CORDONED, NOW, false)));
    assertThat(DrainPlanner.plan(snapshot(end), ONE_NODE, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(end, false));
  }

  @Test
  void lastOfTwoDriversOnANodeUncordons() {
    WorkerNode begin = node("a").cordoned().shared().build();
    WorkerNode first =
        node("a")
            .cordoned()
            .shared()
            .annotation(annotation(Step.REGISTERING, BEFORE, true))
            .updated()
            .build();

    assertThat(DrainPlanner.plan(snapshot(begin), ONE_NODE, NOW).actions())
        .containsExactly(new DrainAction.Cordon(begin, annotation(Step.CORDONED, NOW, true)));
    assertThat(DrainPlanner.plan(snapshot(first), ONE_NODE, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(first, false));
  }

  @Test
  void nodeThatAUserUncordonedIsCordonedAgain() {
    WorkerNode node =
        node("a")
            .annotation(annotation(Step.EVICTING, BEFORE, false))
            .user("web", Origin.CONTROLLER)
            .build();

    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW).actions())
        .containsExactly(new DrainAction.Cordon(node, annotation(Step.CORDONED, NOW, true)));
  }

  @Test
  void timeoutPausesWithTheReasonAndKeepsTrying() {
    WorkerNode stuck =
        node("a")
            .cordoned()
            .annotation(annotation(Step.EVICTING, BEFORE, true))
            .user("web", Origin.CONTROLLER)
            .build();
    WorkerNode next = node("b").build();
    NodeSnapshot snapshot = snapshot(stuck, next);
    DrainPlan plan = DrainPlanner.plan(snapshot, TWO_NODES, NOW);

    assertThat(plan.actions())
        .containsExactly(new DrainAction.Evict(stuck, stuck.consumers().getFirst()));
    NodeUpdate status =
        UpdateStatus.draining(
            snapshot, plan, Map.of("a", "pod shop/web may not be evicted: budget web"));
    assertThat(status.paused()).isTrue();
    assertThat(status.message())
        .isEqualTo(
            "Waiting longer than allowed for a (pod shop/web may not be evicted: budget web)");
    assertThat(status.outdated())
        .containsExactly(
            new OutdatedNode(
                "a", OLD, false, "Evicting", BEFORE, "pod shop/web may not be evicted: budget web"),
            new OutdatedNode("b", OLD, true, null, null, null));
  }

  @Test
  void pausedUpdateResumesWhenItsCauseEnds() {
    WorkerNode free =
        node("a").cordoned().annotation(annotation(Step.EVICTING, BEFORE, true)).build();

    DrainPlan plan = DrainPlanner.plan(snapshot(free, node("b").build()), TWO_NODES, NOW);

    assertThat(plan.isPaused()).isFalse();
    assertThat(plan.actions())
        .hasAtLeastOneElementOfType(DrainAction.RestartDriver.class)
        .hasAtLeastOneElementOfType(DrainAction.Cordon.class);
  }

  @Test
  void nodesThatCannotBeDrainedAreNotCordoned() {
    WorkerNode daemon = node("a").user("log", Origin.DAEMON_SET).build();
    WorkerNode file = node("b").user("etcd", Origin.STATIC).build();
    WorkerNode bare = node("c").user("shell", Origin.UNMANAGED).build();
    WorkerNode down = node("d").notReady().build();
    NodeSnapshot snapshot = snapshot(daemon, file, bare, down);
    DrainPlan plan = DrainPlanner.plan(snapshot, TWO_NODES, NOW);

    assertThat(plan.actions()).isEmpty();
    NodeUpdate status = UpdateStatus.draining(snapshot, plan, Map.of());
    assertThat(status.paused()).isTrue();
    assertThat(status.message()).startsWith("No node can be updated now: a (pod shop/log of a");
    assertThat(status.outdated())
        .extracting(OutdatedNode::message)
        .containsExactly(
            "pod shop/log of a DaemonSet would be recreated at once: keep that DaemonSet off the node",
            "pod shop/etcd is a static pod: move its manifest away from the node",
            "pod shop/shell has no controller that recreates it: delete it, or set"
                + " draining.evictUnmanagedPods",
            "the node is not ready");
  }

  @Test
  void unmanagedPodsAreEvictedIfConfigured() {
    WorkerNode node =
        node("a")
            .cordoned()
            .annotation(annotation(Step.EVICTING, BEFORE, true))
            .user("shell", Origin.UNMANAGED)
            .build();

    assertThat(
            DrainPlanner.plan(snapshot(node), new Draining(1, null, null, null, true), NOW)
                .actions())
        .containsExactly(new DrainAction.Evict(node, node.consumers().getFirst()));
    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW).actions()).isEmpty();
  }

  @Test
  void blockedNodeDoesNotBlockOthers() {
    WorkerNode blocked = node("a").user("log", Origin.DAEMON_SET).build();
    WorkerNode free = node("b").build();
    DrainPlan plan = DrainPlanner.plan(snapshot(blocked, free), ONE_NODE, NOW);

    assertThat(plan.actions())
        .containsExactly(new DrainAction.Cordon(free, annotation(Step.CORDONED, NOW, true)));
    assertThat(plan.isPaused()).isFalse();
  }

  @Test
  void nodeThatBecomesNotReadyIsLeftAlone() {
    WorkerNode node =
        node("a")
            .notReady()
            .cordoned()
            .annotation(annotation(Step.EVICTING, BEFORE, true))
            .user("web", Origin.CONTROLLER)
            .build();
    DrainPlan plan = DrainPlanner.plan(snapshot(node), TWO_NODES, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(UpdateStatus.draining(snapshot(node), plan, Map.of()).message())
        .isEqualTo("Waiting longer than allowed for a (the node is not ready)");
  }

  @Test
  void nodeThatNoLongerMatchesIsReleased() {
    WorkerNode node =
        node("a")
            .unmatched()
            .cordoned()
            .annotation(annotation(Step.EVICTING, BEFORE, true))
            .build();

    assertThat(DrainPlanner.plan(snapshot(node), ONE_NODE, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(node, true));
  }

  @Test
  void updatedNodeWithoutAWorkingDriverStopsTheRollout() {
    WorkerNode broken = node("a").updated().unregistered().build();
    WorkerNode next = node("b").build();
    NodeSnapshot snapshot = snapshot(broken, next);
    DrainPlan plan = DrainPlanner.plan(snapshot, ONE_NODE, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(UpdateStatus.draining(snapshot, plan, Map.of()))
        .returns(true, NodeUpdate::paused)
        .returns(
            "Waiting: the driver of the desired revision is not ready and registered on a",
            NodeUpdate::message);
  }

  @Test
  void templateChangeDuringTheUpdateRestartsTheDriverAgain() {
    WorkerNode between =
        node("a")
            .cordoned()
            .annotation(annotation(Step.REGISTERING, BEFORE, true))
            .driverPods(driver("a", "between", true, false))
            .build();

    assertThat(DrainPlanner.plan(snapshot(between), ONE_NODE, NOW).actions())
        .containsExactly(
            new DrainAction.SetStep(between, annotation(Step.RESTARTING, NOW, true)),
            new DrainAction.RestartDriver(between, driver("a", "between", true, false)));
  }

  @Test
  void nothingIsPlannedWithoutAKnownRevision() {
    WorkerNode node =
        node("a").cordoned().annotation(annotation(Step.EVICTING, BEFORE, true)).build();
    var snapshot =
        new NodeSnapshot(TestNodes.DRIVER, OWNER, "shop/driver", Optional.empty(), List.of(node));
    DrainPlan plan = DrainPlanner.plan(snapshot, ONE_NODE, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(plan.isFinished()).isFalse();
  }

  @Test
  void releaseRemovesOwnAnnotationsOnlyAndKeepsCordonsOfUsers() {
    WorkerNode byOperator =
        node("a").cordoned().annotation(annotation(Step.EVICTING, BEFORE, true)).build();
    WorkerNode byUser =
        node("b").cordoned().annotation(annotation(Step.EVICTING, BEFORE, false)).build();
    WorkerNode other =
        node("c")
            .cordoned()
            .annotation(new DrainAnnotation("uid-2", "shop/other", Step.EVICTING, BEFORE, true))
            .build();

    assertThat(
            DrainPlanner.release(snapshot(byOperator, byUser, other, node("d").cordoned().build())))
        .containsExactly(
            new DrainAction.Uncordon(byOperator, true), new DrainAction.Uncordon(byUser, false));
  }

  @Test
  void annotationIsReadAsWritten() {
    DrainAnnotation annotation = annotation(Step.UNMOUNTING, BEFORE, false);

    assertThat(
            DrainAnnotation.of(
                Map.of(DrainAnnotation.key("csi.example.com"), annotation.text(), "other", "x")))
        .isEqualTo(Map.of("csi.example.com", annotation));
    assertThat(DrainAnnotation.parse("garbled").cordoned()).isTrue();
    assertThat(DrainAnnotation.parse("{\"since\":\"yesterday\"}").owner()).isEmpty();
  }

  @Test
  void onDeleteListsOutdatedNodesAndWhichAreSafe() {
    NodeSnapshot snapshot =
        snapshot(
            node("a").user("web", Origin.CONTROLLER).build(),
            node("b").build(),
            node("c").mounted("volume x").build(),
            node("d").updated().build(),
            node("e").notReady().build());

    assertThat(UpdateStatus.onDelete(snapshot))
        .isEqualTo(
            new NodeUpdate(
                NEW,
                5,
                1,
                null,
                "4 of 5 nodes run an older revision; on 1 of them nothing is mounted and the"
                    + " driver pod can be deleted now.",
                List.of(
                    new OutdatedNode("a", OLD, false, null, null, "pods use volumes: shop/web"),
                    new OutdatedNode("b", OLD, true, null, null, null),
                    new OutdatedNode(
                        "c",
                        OLD,
                        false,
                        null,
                        null,
                        "volumes are still mounted or attached: volume x"),
                    new OutdatedNode("e", OLD, false, null, null, "the node is not ready"))));
  }

  private static DrainAnnotation annotation(Step step, Instant since, boolean cordoned) {
    return new DrainAnnotation(OWNER, "shop/driver", step, since, cordoned);
  }
}
