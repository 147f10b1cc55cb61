package io.pmemcsi.operator.rollout.draining;

import static io.pmemcsi.operator.rollout.draining.World.NEW;
import static io.pmemcsi.operator.rollout.draining.World.OLD;
import static io.pmemcsi.operator.rollout.draining.World.OWNER;
import static io.pmemcsi.operator.rollout.draining.World.driver;
import static io.pmemcsi.operator.rollout.draining.World.fleet;
import static io.pmemcsi.operator.rollout.draining.World.node;
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
  private static final Draining PATIENT = new Draining(1, 600, 600, 600, null);

  @Test
  void nothingIsDoneWhereEveryNodeRunsTheWantedRevision() {
    NodeSnapshot fleet = fleet(node("a").updated().build(), node("b").updated().build());
    Plan plan = DrainPlanner.plan(fleet, PATIENT, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(plan.isFinished()).isTrue();
    assertThat(UpdateStatus.draining(fleet, plan, Map.of()))
        .isEqualTo(new NodeUpdate(NEW, 2, 2, null, null, List.of()));
  }

  @Test
  void asManyNodesAsAllowedAreBegunUnusedOnesFirst() {
    WorkerNode used = node("a").user("web", Origin.CONTROLLER).build();
    WorkerNode unused = node("b").build();
    WorkerNode later = node("c").user("web", Origin.CONTROLLER).build();

    assertThat(DrainPlanner.plan(fleet(used, unused, later), TWO_NODES, NOW).actions())
        .containsExactly(
            new DrainAction.Cordon(unused, mark(Step.CORDONED, NOW, true)),
            new DrainAction.Cordon(used, mark(Step.CORDONED, NOW, true)));
    assertThat(DrainPlanner.plan(fleet(used, unused, later), PATIENT, NOW).actions()).hasSize(1);
  }

  @Test
  void nothingFollowsTheCordonUntilTheSchedulerMustHaveSeenIt() {
    WorkerNode node =
        node("a")
            .cordoned()
            .mark(mark(Step.CORDONED, NOW.minusMillis(1500), true))
            .user("web", Origin.CONTROLLER)
            .build();

    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW).actions()).isEmpty();
    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW.plusSeconds(1)).actions())
        .hasAtLeastOneElementOfType(DrainAction.Evict.class);
  }

  /** As the clock of another operator had it, or this one before it was set back. */
  @Test
  void timeInTheFutureIsCountedFromNowOn() {
    for (Step step : List.of(Step.CORDONED, Step.EVICTING)) {
      var node = node("a").cordoned().user("web", Origin.CONTROLLER);
      WorkerNode marked = node.mark(mark(step, NOW.plusSeconds(3600), true)).build();

      assertThat(DrainPlanner.plan(fleet(marked), PATIENT, NOW).actions())
          .containsExactly(new DrainAction.Enter(marked, mark(step, NOW, true)));
    }
  }

  @Test
  void podsThatUseTheDriverAreEvictedOnce() {
    WorkerNode node =
        node("a")
            .cordoned()
            .mark(mark(Step.CORDONED, BEFORE, true))
            .user("web", Origin.CONTROLLER)
            .leaving("gone-soon")
            .mounted("volume x")
            .build();

    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW).actions())
        .containsExactly(
            new DrainAction.Enter(node, mark(Step.EVICTING, NOW, true)),
            new DrainAction.Evict(node, node.users().getFirst()));
  }

  @Test
  void driverStaysWhileVolumesAreMountedOrAttached() {
    WorkerNode node =
        node("a")
            .cordoned()
            .mark(mark(Step.EVICTING, BEFORE, true))
            .mounted("VolumeAttachment csi-1")
            .build();
    Plan plan = DrainPlanner.plan(fleet(node), PATIENT, NOW);

    assertThat(plan.actions())
        .containsExactly(new DrainAction.Enter(node, mark(Step.UNMOUNTING, NOW, true)));
    assertThat(UpdateStatus.draining(fleet(node), plan, Map.of()).message())
        .isEqualTo("Updating a (volumes are still mounted or attached: VolumeAttachment csi-1)");
  }

  @Test
  void driverIsRestartedWhenNothingIsLeft() {
    WorkerNode node = node("a").cordoned().mark(mark(Step.UNMOUNTING, BEFORE, true)).build();

    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW).actions())
        .containsExactly(
            new DrainAction.Enter(node, mark(Step.RESTARTING, NOW, true)),
            new DrainAction.RestartDriver(node, driver("a", OLD, true, false)));
  }

  @Test
  void newDriverMustBeReadyAndRegistered() {
    var starting =
        node("a")
            .cordoned()
            .mark(mark(Step.RESTARTING, BEFORE, true))
            .drivers(driver("a", OLD, false, true), driver("a", NEW, false, false))
            .build();
    var unknown =
        node("a")
            .cordoned()
            .mark(mark(Step.RESTARTING, BEFORE, true))
            .updated()
            .unregistered()
            .build();

    assertThat(DrainPlanner.plan(fleet(starting), PATIENT, NOW).actions()).isEmpty();
    assertThat(DrainPlanner.plan(fleet(unknown), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Enter(unknown, mark(Step.REGISTERING, BEFORE, true)));
  }

  @Test
  void nodeIsReleasedOnceTheNewDriverServes() {
    WorkerNode node =
        node("a").cordoned().mark(mark(Step.REGISTERING, BEFORE, true)).updated().build();

    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(node, true));
  }

  @Test
  void cordonOfSomebodyElseStays() {
    WorkerNode begin = node("a").cordoned().build();
    WorkerNode end =
        node("a").cordoned().mark(mark(Step.REGISTERING, BEFORE, false)).updated().build();

    assertThat(DrainPlanner.plan(fleet(begin), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Cordon(begin, mark(Step.CORDONED, NOW, false)));
    assertThat(DrainPlanner.plan(fleet(end), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(end, false));
  }

  @Test
  void lastOfTwoDriversOnANodeLiftsTheCordon() {
    WorkerNode begin = node("a").cordoned().shared().build();
    WorkerNode first =
        node("a").cordoned().shared().mark(mark(Step.REGISTERING, BEFORE, true)).updated().build();

    assertThat(DrainPlanner.plan(fleet(begin), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Cordon(begin, mark(Step.CORDONED, NOW, true)));
    assertThat(DrainPlanner.plan(fleet(first), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(first, false));
  }

  @Test
  void cordonThatSomebodyLiftedIsSetAgain() {
    WorkerNode node =
        node("a").mark(mark(Step.EVICTING, BEFORE, false)).user("web", Origin.CONTROLLER).build();

    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Cordon(node, mark(Step.CORDONED, NOW, true)));
  }

  @Test
  void timeOutPausesAndSaysWhyAndGoesOnTrying() {
    WorkerNode stuck =
        node("a")
            .cordoned()
            .mark(mark(Step.EVICTING, BEFORE, true))
            .user("web", Origin.CONTROLLER)
            .build();
    WorkerNode next = node("b").build();
    NodeSnapshot fleet = fleet(stuck, next);
    Plan plan = DrainPlanner.plan(fleet, TWO_NODES, NOW);

    assertThat(plan.actions())
        .containsExactly(new DrainAction.Evict(stuck, stuck.users().getFirst()));
    NodeUpdate status =
        UpdateStatus.draining(
            fleet, plan, Map.of("a", "pod shop/web may not be evicted: budget web"));
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
  void pausedUpdateResumesWhenTheCauseIsGone() {
    WorkerNode free = node("a").cordoned().mark(mark(Step.EVICTING, BEFORE, true)).build();

    Plan plan = DrainPlanner.plan(fleet(free, node("b").build()), TWO_NODES, NOW);

    assertThat(plan.isPaused()).isFalse();
    assertThat(plan.actions())
        .hasAtLeastOneElementOfType(DrainAction.RestartDriver.class)
        .hasAtLeastOneElementOfType(DrainAction.Cordon.class);
  }

  @Test
  void nodesThatCannotBeEmptiedAreNotEvenCordoned() {
    WorkerNode daemon = node("a").user("log", Origin.DAEMON_SET).build();
    WorkerNode file = node("b").user("etcd", Origin.STATIC).build();
    WorkerNode bare = node("c").user("shell", Origin.NOBODY).build();
    WorkerNode down = node("d").notReady().build();
    NodeSnapshot fleet = fleet(daemon, file, bare, down);
    Plan plan = DrainPlanner.plan(fleet, TWO_NODES, NOW);

    assertThat(plan.actions()).isEmpty();
    NodeUpdate status = UpdateStatus.draining(fleet, plan, Map.of());
    assertThat(status.paused()).isTrue();
    assertThat(status.message()).startsWith("No node can be updated now: a (pod shop/log of a");
    assertThat(status.outdated())
        .extracting(OutdatedNode::message)
        .containsExactly(
            "pod shop/log of a DaemonSet would come back at once: keep that DaemonSet off the node",
            "pod shop/etcd comes from a file on the node: move the file away",
            "pod shop/shell would not be made again: delete it, or set"
                + " draining.evictUnmanagedPods",
            "the node is not ready");
  }

  @Test
  void podsWithoutAControllerAreEvictedIfAskedFor() {
    WorkerNode node =
        node("a")
            .cordoned()
            .mark(mark(Step.EVICTING, BEFORE, true))
            .user("shell", Origin.NOBODY)
            .build();

    assertThat(
            DrainPlanner.plan(fleet(node), new Draining(1, null, null, null, true), NOW).actions())
        .containsExactly(new DrainAction.Evict(node, node.users().getFirst()));
    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW).actions()).isEmpty();
  }

  @Test
  void otherNodesAreUpdatedAroundOneThatCannotBe() {
    WorkerNode blocked = node("a").user("log", Origin.DAEMON_SET).build();
    WorkerNode free = node("b").build();
    Plan plan = DrainPlanner.plan(fleet(blocked, free), PATIENT, NOW);

    assertThat(plan.actions())
        .containsExactly(new DrainAction.Cordon(free, mark(Step.CORDONED, NOW, true)));
    assertThat(plan.isPaused()).isFalse();
  }

  @Test
  void nodeThatGoesDownWhileItIsWorkedOnIsLeftAlone() {
    WorkerNode node =
        node("a")
            .notReady()
            .cordoned()
            .mark(mark(Step.EVICTING, BEFORE, true))
            .user("web", Origin.CONTROLLER)
            .build();
    Plan plan = DrainPlanner.plan(fleet(node), TWO_NODES, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(UpdateStatus.draining(fleet(node), plan, Map.of()).message())
        .isEqualTo("Waiting longer than allowed for a (the node is not ready)");
  }

  @Test
  void nodeThatTheDriverLeavesIsReleased() {
    WorkerNode node =
        node("a").unwanted().cordoned().mark(mark(Step.EVICTING, BEFORE, true)).build();

    assertThat(DrainPlanner.plan(fleet(node), PATIENT, NOW).actions())
        .containsExactly(new DrainAction.Uncordon(node, true));
  }

  @Test
  void updatedNodeWithoutWorkingDriverStopsTheRollOut() {
    WorkerNode broken = node("a").updated().unregistered().build();
    WorkerNode next = node("b").build();
    NodeSnapshot fleet = fleet(broken, next);
    Plan plan = DrainPlanner.plan(fleet, PATIENT, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(UpdateStatus.draining(fleet, plan, Map.of()))
        .returns(true, NodeUpdate::paused)
        .returns(
            "Waiting: the driver of the wanted revision is not ready and registered on a",
            NodeUpdate::message);
  }

  @Test
  void changeOfMindInTheMiddleUpdatesTheNodeAgain() {
    WorkerNode between =
        node("a")
            .cordoned()
            .mark(mark(Step.REGISTERING, BEFORE, true))
            .drivers(driver("a", "between", true, false))
            .build();

    assertThat(DrainPlanner.plan(fleet(between), PATIENT, NOW).actions())
        .containsExactly(
            new DrainAction.Enter(between, mark(Step.RESTARTING, NOW, true)),
            new DrainAction.RestartDriver(between, driver("a", "between", true, false)));
  }

  @Test
  void withoutAKnownRevisionNothingMoves() {
    WorkerNode node = node("a").cordoned().mark(mark(Step.EVICTING, BEFORE, true)).build();
    var fleet =
        new NodeSnapshot(World.DRIVER, OWNER, "shop/driver", Optional.empty(), List.of(node));
    Plan plan = DrainPlanner.plan(fleet, PATIENT, NOW);

    assertThat(plan.actions()).isEmpty();
    assertThat(plan.isFinished()).isFalse();
  }

  @Test
  void releaseTouchesOwnMarksOnlyAndKeepsForeignCordons() {
    WorkerNode ours = node("a").cordoned().mark(mark(Step.EVICTING, BEFORE, true)).build();
    WorkerNode foreign = node("b").cordoned().mark(mark(Step.EVICTING, BEFORE, false)).build();
    WorkerNode other =
        node("c")
            .cordoned()
            .mark(new DrainAnnotation("uid-2", "shop/other", Step.EVICTING, BEFORE, true))
            .build();

    assertThat(DrainPlanner.release(fleet(ours, foreign, other, node("d").cordoned().build())))
        .containsExactly(
            new DrainAction.Uncordon(ours, true), new DrainAction.Uncordon(foreign, false));
  }

  @Test
  void markSurvivesBeingWritten() {
    DrainAnnotation mark = mark(Step.UNMOUNTING, BEFORE, false);

    assertThat(
            DrainAnnotation.of(
                Map.of(DrainAnnotation.key("csi.example.com"), mark.text(), "other", "x")))
        .isEqualTo(Map.of("csi.example.com", mark));
    assertThat(DrainAnnotation.parse("garbled").cordoned()).isTrue();
    assertThat(DrainAnnotation.parse("{\"since\":\"yesterday\"}").owner()).isEmpty();
  }

  @Test
  void onDeleteListsOutdatedNodesAndWhichAreSafe() {
    NodeSnapshot fleet =
        fleet(
            node("a").user("web", Origin.CONTROLLER).build(),
            node("b").build(),
            node("c").mounted("volume x").build(),
            node("d").updated().build(),
            node("e").notReady().build());

    assertThat(UpdateStatus.onDelete(fleet))
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

  private static DrainAnnotation mark(Step step, Instant since, boolean cordoned) {
    return new DrainAnnotation(OWNER, "shop/driver", step, since, cordoned);
  }
}
