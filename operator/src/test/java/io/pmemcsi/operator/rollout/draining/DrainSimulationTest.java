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
 * Whole roll-outs in random clusters, with interference, and with an operator that dies after any
 * action. Set {@code pmem-csi.campaign} for many more of them.
 */
class DrainSimulationTest {

  private static final int HUNDREDS = Boolean.getBoolean("pmem-csi.campaign") ? 100 : 3;
  private static final int TROUBLED_ROUNDS = 80;
  private static final int ROUNDS_TO_FINISH = 2000;
  private static final Duration STEP = Duration.ofSeconds(3);

  static Stream<Long> hundreds() {
    return LongStream.range(0, HUNDREDS).boxed();
  }

  @ParameterizedTest(name = "seeds from {0}00")
  @MethodSource("hundreds")
  void rollOutsFinishAndLeaveNoTrace(long hundred) {
    LongStream.range(hundred * 100, hundred * 100 + 100).forEach(DrainSimulationTest::rollOut);
  }

  @ParameterizedTest(name = "seeds from {0}00")
  @MethodSource("hundreds")
  void cancelledRollOutsLeaveNoNodeCordoned(long hundred) {
    LongStream.range(hundred * 100, hundred * 100 + 100).forEach(DrainSimulationTest::cancel);
  }

  @ParameterizedTest(name = "seeds from {0}00")
  @MethodSource("hundreds")
  void stoppedRollOutsFinishTheNodesInHandAndBeginNone(long hundred) {
    LongStream.range(hundred * 100, hundred * 100 + 100).forEach(DrainSimulationTest::standStill);
  }

  @Test
  void sameSeedIsTheSameStory() {
    assertThat(story(42)).isEqualTo(story(42)).isNotEqualTo(story(43));
  }

  private static void rollOut(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 3 + random.nextInt(6));
    Draining settings = settings(random);
    trouble(cluster, settings, random, seed, TROUBLED_ROUNDS);
    boolean finished = false;
    for (int i = 0; i < ROUNDS_TO_FINISH && !finished; i++) {
      cluster.mend();
      finished = round(cluster, settings, random, seed).isFinished();
    }
    assertThat(finished)
        .as("seed %d ends: %s", seed, DrainPlanner.plan(cluster.fleet(), settings, cluster.now))
        .isTrue();
    assertClean(cluster, seed);
    assertThat(cluster.machines.values())
        .as("seed %d: nodes that the driver wants", seed)
        .filteredOn(machine -> machine.wanted)
        .allMatch(machine -> machine.driverRevision.equals(cluster.revision));
  }

  private static void cancel(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 3 + random.nextInt(6));
    Draining settings = settings(random);
    trouble(cluster, settings, random, seed, 1 + random.nextInt(TROUBLED_ROUNDS));
    DrainPlanner.release(cluster.fleet()).forEach(action -> cluster.act(action, false));
    assertClean(cluster, seed);
  }

  private static void standStill(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 3 + random.nextInt(6));
    Draining settings = settings(random);
    trouble(cluster, settings, random, seed, 1 + random.nextInt(TROUBLED_ROUNDS));
    Optional<String> why = Optional.of("the resource is wrong");
    for (int i = 0; i < ROUNDS_TO_FINISH && marked(cluster) > 0; i++) {
      cluster.mend();
      long before = marked(cluster);
      round(cluster, settings, random, seed, why);
      assertThat(marked(cluster)).as("seed %d: nodes in hand", seed).isLessThanOrEqualTo(before);
    }
    assertClean(cluster, seed);
    Plan last = DrainPlanner.plan(cluster.fleet(), settings, cluster.now, why);
    assertThat(last.actions()).as("seed %d: nothing is begun", seed).isEmpty();
    assertThat(last.isPaused()).as("seed %d", seed).isEqualTo(!last.isFinished());
  }

  private static void trouble(
      SimulatedCluster cluster, Draining settings, Random random, long seed, int rounds) {
    for (int i = 0; i < rounds; i++) {
      round(cluster, settings, random, seed);
      if (random.nextInt(4) == 0) {
        cluster.interfere();
      }
    }
  }

  private static Plan round(SimulatedCluster cluster, Draining settings, Random random, long seed) {
    return round(cluster, settings, random, seed, Optional.empty());
  }

  /** One look and what follows from it, maybe cut short. */
  private static Plan round(
      SimulatedCluster cluster,
      Draining settings,
      Random random,
      long seed,
      Optional<String> standstill) {
    long before = marked(cluster);
    Plan plan = DrainPlanner.plan(cluster.fleet(), settings, cluster.now, standstill);
    List<DrainAction> actions = plan.actions();
    int survives = random.nextInt(5) == 0 ? random.nextInt(actions.size() + 1) : actions.size();
    for (DrainAction action : actions.subList(0, survives)) {
      cluster.act(action, settings.evictsUnmanagedPods());
    }
    long after = marked(cluster);
    assertThat(after)
        .as("seed %d: nodes worked on at once", seed)
        .isLessThanOrEqualTo(Math.max(before, settings.parallelNodesOrDefault()));
    assertThat(cluster.violations).as("seed %d", seed).isEmpty();
    cluster.tick(STEP);
    return plan;
  }

  private static void assertClean(SimulatedCluster cluster, long seed) {
    assertThat(cluster.violations).as("seed %d", seed).isEmpty();
    assertThat(cluster.machines.values())
        .as("seed %d: no mark is left, and no cordon but those of people", seed)
        .allMatch(machine -> machine.mark.isEmpty())
        .allMatch(machine -> machine.cordoned == machine.cordonedByPeople);
  }

  private static long marked(SimulatedCluster cluster) {
    return cluster.machines.values().stream().filter(m -> m.mark.isPresent()).count();
  }

  private static String story(long seed) {
    var random = new Random(seed);
    var cluster = new SimulatedCluster(random, 5);
    var story = new StringBuilder();
    for (int i = 0; i < TROUBLED_ROUNDS; i++) {
      story.append(round(cluster, settings(random), random, seed).actions());
      cluster.interfere();
    }
    return story.toString();
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
