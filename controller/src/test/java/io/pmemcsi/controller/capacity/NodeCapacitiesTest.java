package io.pmemcsi.controller.capacity;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.controller.volume.NeededVolume;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeCapacitiesTest {

  private static final Instant START = Instant.parse("2026-11-17T12:00:00Z");
  private static final NodeCapacities.Freshness BY_TIME =
      new NodeCapacities.Freshness() {
        @Override
        public Duration age(Instant observed, Instant now) {
          return Duration.between(observed, now);
        }

        @Override
        public String remedy() {
          return "does the endpoint answer?";
        }
      };

  private final NodeCapacities capacities = new NodeCapacities();
  private Instant now = START;

  @Test
  void nodesWithRoomPassAndOthersSayWhy() {
    observe("big", 100);
    observe("small", 10);

    FilterResult result = filter("pod-1", 50, "small", "big", "without-driver");

    assertThat(result.passed()).containsExactly("big");
    assertThat(result.refused())
        .containsEntry("small", "only 10B of PMEM available, need 50B")
        .containsEntry("without-driver", "only 0B of PMEM available, need 50B");
  }

  @Test
  void aNodeWithOldDataIsRefusedWithItsAge() {
    observe("n1", 100);
    now = START.plusSeconds(181);

    assertThat(filter("pod-1", 50, "n1").refused())
        .containsEntry(
            "n1",
            "retrieve capacity: the data is 181 s old, more than 180 s: does the endpoint answer?");
    assertThat(capacities.oldest(BY_TIME, now)).isEqualTo(Duration.ofSeconds(181));
  }

  @Test
  void aNodeThatReportsNothingAnyMoreHasNoRoom() {
    observe("n1", 100);
    capacities.forget("n1");

    assertThat(filter("pod-1", 50, "n1").passed()).isEmpty();
  }

  @Test
  void theLastRoomIsNotPromisedTwice() {
    observe("n1", 100);

    assertThat(filter("pod-1", 60, "n1").passed()).containsExactly("n1");
    assertThat(filter("pod-2", 60, "n1").refused())
        .containsEntry("n1", "only 40B of PMEM available, need 60B");
    // asked again for the same pod, its own promise does not count
    assertThat(filter("pod-1", 60, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aPodWithSeveralNodesHoldsRoomOnAllUntilItsClaimShowsOne() {
    observe("n1", 100);
    observe("n2", 100);

    assertThat(filter("pod-1", 60, "n1", "n2").passed()).containsExactly("n1", "n2");
    assertThat(filter("pod-2", 60, "n1", "n2").passed()).isEmpty();
    capacities.assign("default/pod-1", 60, "n2");

    assertThat(filter("pod-2", 60, "n1", "n2").passed()).containsExactly("n1");
  }

  @Test
  void whilePodsAreUndecidedTheNextOnesGetFewerNodes() {
    List<String> nodes = IntStream.range(0, 8).mapToObj(i -> "n" + i).toList();
    nodes.forEach(node -> observe(node, 1000));

    assertThat(filter("pod-1", 10, nodes).passed()).hasSize(8);
    assertThat(filter("pod-2", 10, nodes).passed()).hasSize(4);
    assertThat(filter("pod-3", 10, nodes).passed()).hasSize(2);
    FilterResult fourth = filter("pod-4", 10, nodes);
    FilterResult fifth = filter("pod-5", 10, nodes);

    assertThat(fourth.passed()).hasSize(1);
    assertThat(fourth.refused())
        .containsValue("PMEM is kept for other pods that are being scheduled");
    assertThat(fifth.passed()).hasSize(1).isNotEqualTo(fourth.passed());
  }

  @Test
  void aPromiseEndsWhenTheVolumeExistsAndTheReportedCapacityLacksIt() {
    observe("n1", 100);
    filter("pod-1", 60, "n1");
    capacities.assign("default/pod-1", 60, "n1");

    assertThat(capacities.created("default/pod-1", now)).contains("n1");
    assertThat(filter("pod-2", 40, "n1").passed()).as("still promised").containsExactly("n1");
    assertThat(filter("pod-3", 1, "n1").passed()).isEmpty();
    capacities.release("pod-2");
    observe("n1", 40);

    assertThat(capacities.promisedVolumes()).isZero();
    assertThat(filter("pod-3", 40, "n1").passed()).containsExactly("n1");
  }

  @Test
  void theReportMayComeBeforeTheClaimIsBound() {
    observe("n1", 100);
    filter("pod-1", 60, "n1");
    capacities.assign("default/pod-1", 60, "n1");
    observe("n1", 40);
    capacities.created("default/pod-1", now);

    assertThat(filter("pod-2", 40, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aPromiseWithoutReportEndsAfterHalfAMinute() {
    observe("n1", 100);
    capacities.assign("default/a", 60, "n1");
    capacities.created("default/a", now);

    capacities.expire(START.plusSeconds(29));
    assertThat(capacities.promisedVolumes()).isEqualTo(1);
    capacities.expire(START.plusSeconds(30));
    assertThat(capacities.promisedVolumes()).isZero();
  }

  @Test
  void aHoldWithoutDecisionEndsAfterTwoMinutes() {
    observe("n1", 100);
    filter("pod-1", 60, "n1");

    capacities.expire(START.plusSeconds(119));
    assertThat(filter("pod-2", 60, "n1").passed()).isEmpty();
    capacities.expire(START.plusSeconds(120));
    assertThat(filter("pod-2", 60, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aDeletedPodAndARescheduledClaimGiveTheirRoomBack() {
    observe("n1", 100);
    filter("pod-1", 60, "n1");
    capacities.release("pod-1");
    assertThat(capacities.promisedVolumes()).isZero();

    capacities.assign("default/a", 60, "n1");
    capacities.unassign("default/a");

    assertThat(filter("pod-2", 100, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aClaimThatMovesToAnotherNodeTakesItsPromiseAlong() {
    observe("n1", 100);
    observe("n2", 100);
    capacities.assign("default/a", 60, "n1");
    capacities.assign("default/a", 60, "n2");

    assertThat(filter("pod-2", 60, "n1", "n2").passed()).containsExactly("n1");
    assertThat(capacities.promisedVolumes()).isEqualTo(2);
  }

  @Test
  void scoresPreferTheNodeThatHasMostLeft() {
    observe("n1", 110);
    observe("n2", 60);
    observe("n3", 10);
    filter("pod-1", 10, "n1", "n2", "n3");

    assertThat(capacities.scores("pod-1", need("pod-1", 10), List.of("n3", "n2", "n1", "x")))
        .containsExactly(0, 5, 10, 0);
    assertThat(capacities.scores("pod-2", List.of(), List.of("n1"))).containsExactly(0);
  }

  /** Any order of events ends with no promise and full use of the reported capacity. */
  @Test
  void randomBurstsNeverPromiseMoreThanThereIsAndFillEveryNode() {
    long seed = 20261117;
    for (int run = 0; run < 50; run++) {
      burst(seed + run);
    }
  }

  private static void burst(long seed) {
    var random = new Random(seed);
    var capacities = new NodeCapacities();
    List<String> nodes = IntStream.range(0, 10).mapToObj(i -> "n" + i).toList();
    Map<String, Long> free = new HashMap<>();
    nodes.forEach(node -> free.put(node, 20L));
    nodes.forEach(node -> capacities.observe(node, new Room(20, 20), START));
    var waiting = new ArrayList<>(IntStream.range(0, 200).mapToObj(i -> "pod-" + i).toList());
    var decided = new ArrayList<Map.Entry<String, String>>();
    var chosen = new ArrayList<Map.Entry<String, String>>();
    Instant now = START;
    for (int step = 0;
        step < 20_000 && !(waiting.isEmpty() && chosen.isEmpty() && decided.isEmpty());
        step++) {
      now = now.plusMillis(10);
      capacities.expire(now);
      switch (random.nextInt(3)) {
        case 0 -> {
          if (!waiting.isEmpty()) {
            String pod = waiting.removeFirst();
            List<String> passed =
                capacities.filter(pod, need(pod, 1), nodes, BY_TIME, now).passed();
            if (passed.isEmpty()) {
              waiting.add(pod);
            } else {
              chosen.add(Map.entry(pod, passed.get(random.nextInt(passed.size()))));
            }
          }
        }
        case 1 -> {
          if (!chosen.isEmpty()) {
            var choice = chosen.remove(random.nextInt(chosen.size()));
            capacities.assign("default/" + choice.getKey(), 1, choice.getValue());
            decided.add(choice);
          }
        }
        default -> {
          if (!decided.isEmpty()) {
            var volume = decided.remove(random.nextInt(decided.size()));
            long left = free.merge(volume.getValue(), -1L, Long::sum);
            assertThat(left).as("seed %d: volume refused on %s", seed, volume).isNotNegative();
            if (random.nextBoolean()) {
              capacities.observe(volume.getValue(), new Room(left, left), now);
              capacities.created("default/" + volume.getKey(), now);
            } else {
              capacities.created("default/" + volume.getKey(), now);
              capacities.observe(volume.getValue(), new Room(left, left), now);
            }
          }
        }
      }
    }
    assertThat(waiting).as("seed %d: pods without node", seed).isEmpty();
    assertThat(capacities.promisedVolumes()).isZero();
    assertThat(free.values()).containsOnly(0L);
  }

  private void observe(String node, long bytes) {
    capacities.observe(node, new Room(bytes, bytes), now);
  }

  private FilterResult filter(String pod, long bytes, String... nodes) {
    return filter(pod, bytes, List.of(nodes));
  }

  private FilterResult filter(String pod, long bytes, List<String> nodes) {
    return capacities.filter(pod, need(pod, bytes), nodes, BY_TIME, now);
  }

  private static List<NeededVolume> need(String pod, long bytes) {
    return List.of(new NeededVolume("default/" + pod, bytes));
  }
}
