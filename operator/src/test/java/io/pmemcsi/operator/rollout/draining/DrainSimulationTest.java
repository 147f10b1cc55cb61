package io.pmemcsi.operator.rollout.draining;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.api.template.Draining;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whole rollouts in random clusters, with interference, and with an operator that is killed after
 * any action. Set {@code pmem-csi.campaign} for many more of them.
 */
class DrainSimulationTest {

  private static final int HUNDREDS = Boolean.getBoolean("pmem-csi.campaign") ? 100 : 3;
  private static final int DISTURBED_STEPS = 80;
  private static final int STEPS_TO_FINISH = 2000;
  private static final Duration STEP = Duration.ofSeconds(3);

  static Stream<Long> hundreds() {
    return LongStream.range(0, HUNDREDS).boxed();
  }

  @ParameterizedTest(name = "seeds from {0}00")
  @MethodSource("hundreds")
  void rolloutsFinishAndLeaveNoAnnotation(long hundred) {
    LongStream.range(hundred * 100, hundred * 100 + 100).forEach(DrainSimulationTest::rollout);
  }

  @ParameterizedTest(name = "seeds from {0}00")
  @MethodSource("hundreds")
  void cancelledRolloutsLeaveNoNodeCordoned(long hundred) {
    LongStream.range(hundred * 100, hundred * 100 + 100).forEach(DrainSimulationTest::cancel);
  }

  @ParameterizedTest(name = "seeds from {0}00")
  @MethodSource("hundreds")
  void pausedRolloutsCompleteNodesInProgressAndStartNone(long hundred) {
    LongStream.range(hundred * 100, hundred * 100 + 100).forEach(DrainSimulationTest::pause);
  }

  @Test
  void sameSeedGivesTheSameActions() {
    assertThat(actionLog(42)).isEqualTo(actionLog(42)).isNotEqualTo(actionLog(43));
  }

  private static void rollout(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 3 + random.nextInt(6));
    Draining settings = settings(random);
    disturb(cluster, settings, random, seed, DISTURBED_STEPS);
    boolean finished = false;
    for (int i = 0; i < STEPS_TO_FINISH && !finished; i++) {
      cluster.repair();
      finished = reconcile(cluster, settings, random, seed).isFinished();
    }
    assertThat(finished)
        .as("seed %d ends: %s", seed, DrainPlanner.plan(cluster.snapshot(), settings, cluster.now))
        .isTrue();
    assertClean(cluster, seed);
    assertThat(cluster.machines.values())
        .as("seed %d: nodes that match", seed)
        .filteredOn(machine -> machine.desired)
        .allMatch(machine -> machine.driverRevision.equals(cluster.revision));
  }

  private static void cancel(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 3 + random.nextInt(6));
    Draining settings = settings(random);
    disturb(cluster, settings, random, seed, 1 + random.nextInt(DISTURBED_STEPS));
    DrainPlanner.release(cluster.snapshot()).forEach(action -> cluster.act(action, false));
    assertClean(cluster, seed);
  }

  private static void pause(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 3 + random.nextInt(6));
    Draining settings = settings(random);
    disturb(cluster, settings, random, seed, 1 + random.nextInt(DISTURBED_STEPS));
    Optional<String> reason = Optional.of("the resource is wrong");
    for (int i = 0; i < STEPS_TO_FINISH && inProgress(cluster) > 0; i++) {
      cluster.repair();
      long before = inProgress(cluster);
      reconcile(cluster, settings, random, seed, reason);
      assertThat(inProgress(cluster))
          .as("seed %d: nodes in progress", seed)
          .isLessThanOrEqualTo(before);
    }
    assertClean(cluster, seed);
    DrainPlan last = DrainPlanner.plan(cluster.snapshot(), settings, cluster.now, reason);
    assertThat(last.actions()).as("seed %d: nothing is started", seed).isEmpty();
    assertThat(last.isPaused()).as("seed %d", seed).isEqualTo(!last.isFinished());
  }

  private static void disturb(
      SimulatedCluster cluster, Draining settings, Random random, long seed, int steps) {
    for (int i = 0; i < steps; i++) {
      reconcile(cluster, settings, random, seed);
      if (random.nextInt(4) == 0) {
        cluster.interfere();
      }
    }
  }

  private static DrainPlan reconcile(
      SimulatedCluster cluster, Draining settings, Random random, long seed) {
    return reconcile(cluster, settings, random, seed, Optional.empty());
  }

  /** One reconciliation, perhaps interrupted. */
  private static DrainPlan reconcile(
      SimulatedCluster cluster,
      Draining settings,
      Random random,
      long seed,
      Optional<String> pauseReason) {
    long before = inProgress(cluster);
    DrainPlan plan = DrainPlanner.plan(cluster.snapshot(), settings, cluster.now, pauseReason);
    List<DrainAction> actions = plan.actions();
    int survives = random.nextInt(5) == 0 ? random.nextInt(actions.size() + 1) : actions.size();
    for (DrainAction action : actions.subList(0, survives)) {
      cluster.act(action, settings.evictsUnmanagedPods());
    }
    long after = inProgress(cluster);
    assertThat(after)
        .as("seed %d: nodes in progress at once", seed)
        .isLessThanOrEqualTo(Math.max(before, settings.parallelNodesOrDefault()));
    assertThat(cluster.violations).as("seed %d", seed).isEmpty();
    cluster.tick(STEP);
    return plan;
  }

  private static void assertClean(SimulatedCluster cluster, long seed) {
    assertThat(cluster.violations).as("seed %d", seed).isEmpty();
    assertThat(cluster.machines.values())
        .as("seed %d: no annotation is left, and only cordons of users", seed)
        .allMatch(machine -> machine.annotation.isEmpty())
        .allMatch(machine -> machine.cordoned == machine.cordonedByUser);
  }

  private static long inProgress(SimulatedCluster cluster) {
    return cluster.machines.values().stream().filter(m -> m.annotation.isPresent()).count();
  }

  private static String actionLog(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 5);
    var actionLog = new StringBuilder();
    for (int i = 0; i < DISTURBED_STEPS; i++) {
      actionLog.append(reconcile(cluster, settings(random), random, seed).actions());
      cluster.interfere();
    }
    return actionLog.toString();
  }

  private static Draining settings(Random random) {
    return new Draining(
        1 + random.nextInt(3),
        5 + random.nextInt(60),
        5 + random.nextInt(60),
        5 + random.nextInt(60),
        random.nextBoolean());
  }
}
