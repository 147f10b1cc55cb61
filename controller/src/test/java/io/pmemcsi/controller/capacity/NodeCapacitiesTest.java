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
  void nodesWithCapacityPassAndOthersSayWhy() {
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
  void aNodeWithoutReportHasNoFreeCapacity() {
    observe("n1", 100);
    capacities.forget("n1");

    assertThat(filter("pod-1", 50, "n1").passed()).isEmpty();
  }

  @Test
  void theLastFreeCapacityIsNotReservedTwice() {
    observe("n1", 100);

    assertThat(filter("pod-1", 60, "n1").passed()).containsExactly("n1");
    assertThat(filter("pod-2", 60, "n1").refused())
        .containsEntry("n1", "only 40B of PMEM available, need 60B");
    // asked again for the same pod, its own reservation does not count
    assertThat(filter("pod-1", 60, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aPodWithSeveralNodesReservesOnAllUntilItsClaimNamesOne() {
    observe("n1", 100);
    observe("n2", 100);

    assertThat(filter("pod-1", 60, "n1", "n2").passed()).containsExactly("n1", "n2");
    assertThat(filter("pod-2", 60, "n1", "n2").passed()).isEmpty();
    capacities.assign(new NeededVolume("default/pod-1", 60), "n2", now);

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
  void aReservationEndsWhenTheVolumeExistsAndIsCountedInTheReport() {
    observe("n1", 100);
    filter("pod-1", 60, "n1");
    capacities.assign(new NeededVolume("default/pod-1", 60), "n1", now);

    assertThat(capacities.created("default/pod-1", now)).contains("n1");
    assertThat(filter("pod-2", 40, "n1").passed()).as("still reserved").containsExactly("n1");
    assertThat(filter("pod-3", 1, "n1").passed()).isEmpty();
    capacities.release("pod-2");
    observe("n1", 40);

    assertThat(capacities.reservedVolumes()).isZero();
    assertThat(filter("pod-3", 40, "n1").passed()).containsExactly("n1");
  }

  @Test
  void theReportMayComeBeforeTheClaimIsBound() {
    observe("n1", 100);
    filter("pod-1", 60, "n1");
    capacities.assign(new NeededVolume("default/pod-1", 60), "n1", now);
    observe("n1", 40);
    capacities.created("default/pod-1", now);

    assertThat(filter("pod-2", 40, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aReservationWithoutReportExpiresAfterNinetySeconds() {
    observe("n1", 100);
    capacities.assign(new NeededVolume("default/a", 60), "n1", now);
    capacities.created("default/a", now);

    capacities.expire(START.plusSeconds(89));
    assertThat(capacities.reservedVolumes()).isEqualTo(1);
    capacities.expire(START.plusSeconds(90));
    assertThat(capacities.reservedVolumes()).isZero();
  }

  /** The external-provisioner polls the capacity once a minute. */
  @Test
  void anInlineVolumeStaysReservedUntilTheNextPollReportsIt() {
    var inline = new NeededVolume(NeededVolume.inlineKey("uid-1", "scratch"), 60);
    observe("n1", 100);
    capacities.assign(inline, "n1", now);
    capacities.created(inline.key(), now);

    capacities.expire(START.plusSeconds(60));
    assertThat(filter("pod-2", 60, "n1").passed()).isEmpty();
    observe("n1", 40);

    assertThat(capacities.reservedVolumes()).isZero();
    assertThat(filter("pod-3", 40, "n1").passed()).containsExactly("n1");
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

  /** Any client can ask for pods that do not exist. */
  @Test
  void podsBeyondALimitPassWithoutAHold() {
    observe("n1", 1 << 20);
    for (int pod = 0; pod < 50; pod++) {
      String name = "pod-" + pod;
      List<NeededVolume> volumes =
          IntStream.range(0, 250).mapToObj(i -> new NeededVolume(name + "/" + i, 1)).toList();

      assertThat(capacities.filter(name, volumes, List.of("n1"), BY_TIME, now).passed())
          .containsExactly("n1");
    }

    assertThat(capacities.reservedVolumes()).isEqualTo(Reservations.MAX_HELD);
    capacities.release("pod-0");
    filter("one-more", 1, "n1");
    assertThat(capacities.reservedVolumes()).isEqualTo(Reservations.MAX_HELD - 250 + 1);
  }

  @Test
  void aReservationWithoutVolumeEndsAfterFiveMinutes() {
    observe("n1", 100);
    capacities.assign(new NeededVolume("default/a", 60), "n1", now);

    capacities.expire(START.plusSeconds(299));
    assertThat(capacities.reservedVolumes()).isEqualTo(1);
    capacities.expire(START.plusSeconds(300));
    assertThat(filter("pod-2", 100, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aClaimThatCannotFitItsNodeReservesNothing() {
    observe("n1", 60);
    capacities.assign(new NeededVolume("default/a", 400), "n1", now);

    assertThat(filter("pod-2", 60, "n1").passed()).containsExactly("n1");
  }

  /** Claims may be listed before the capacity of their node is. */
  @Test
  void hugeClaimsDoNotOverflowTheReservedAmount() {
    for (int i = 0; i < 1000; i++) {
      capacities.assign(new NeededVolume("default/" + i, Long.MAX_VALUE), "n1", now);
    }
    observe("n1", 100);

    assertThat(filter("pod", 1, "n1").refused())
        .containsEntry("n1", "only 0B of PMEM available, need 1B");
  }

  @Test
  void volumesForANumaNodeAreJudgedByItsPartOnly() {
    observeNumaNodes("n1", 0, 100);

    assertThat(filterOn("1", "pod-1", 60, "n1").passed()).containsExactly("n1");
    capacities.release("pod-1");
    assertThat(filterOn("0", "pod-2", 60, "n1").refused())
        .containsEntry("n1", "only 0B of PMEM available, need 60B on NUMA node 0");
    assertThat(filter("pod-3", 60, "n1").passed()).containsExactly("n1");
    assertThat(filterOn("2", "pod-4", 40, "n1").passed())
        .as("on a NUMA node that nobody reports, the sum decides")
        .containsExactly("n1");
  }

  @Test
  void reservationsForOneNumaNodeDoNotCountOnAnother() {
    observeNumaNodes("n1", 100, 100);
    capacities.assign(new NeededVolume("default/a", 100, "0"), "n1", now);

    assertThat(filterOn("0", "pod-1", 1, "n1").passed()).isEmpty();
    assertThat(filterOn("1", "pod-2", 100, "n1").passed()).containsExactly("n1");
    assertThat(filter("pod-3", 1, "n1").passed()).isEmpty();
    capacities.release("pod-2");
    capacities.created("default/a", now);
    observeNumaNodes("n1", 0, 100);

    assertThat(capacities.reservedVolumes()).isZero();
    assertThat(filter("pod-3", 100, "n1").passed()).containsExactly("n1");
  }

  @Test
  void reservationsForAnyNumaNodeCountOnEach() {
    observeNumaNodes("n1", 100, 100);
    capacities.assign(new NeededVolume("default/a", 60), "n1", now);

    assertThat(filterOn("0", "pod-1", 60, "n1").passed()).isEmpty();
    assertThat(filterOn("0", "pod-1", 40, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aDeletedPodAndARescheduledClaimEndTheirReservations() {
    observe("n1", 100);
    filter("pod-1", 60, "n1");
    capacities.release("pod-1");
    assertThat(capacities.reservedVolumes()).isZero();

    capacities.assign(new NeededVolume("default/a", 60), "n1", now);
    capacities.unassign("default/a");

    assertThat(filter("pod-2", 100, "n1").passed()).containsExactly("n1");
  }

  @Test
  void aReservationFollowsItsClaimToAnotherNode() {
    observe("n1", 100);
    observe("n2", 100);
    capacities.assign(new NeededVolume("default/a", 60), "n1", now);
    capacities.assign(new NeededVolume("default/a", 60), "n2", now);

    assertThat(filter("pod-2", 60, "n1", "n2").passed()).containsExactly("n1");
    assertThat(capacities.reservedVolumes()).isEqualTo(2);
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

  /** Any order of events ends with no reservation and full use of the reported capacity. */
  @Test
  void randomBurstsNeverReserveMoreThanIsFreeAndFillEveryNode() {
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
    nodes.forEach(node -> capacities.observe(node, new FreeCapacity(20, 20), START));
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
            capacities.assign(
                new NeededVolume("default/" + choice.getKey(), 1), choice.getValue(), now);
            decided.add(choice);
          }
        }
        default -> {
          if (!decided.isEmpty()) {
            var volume = decided.remove(random.nextInt(decided.size()));
            long left = free.merge(volume.getValue(), -1L, Long::sum);
            assertThat(left).as("seed %d: volume refused on %s", seed, volume).isNotNegative();
            if (random.nextBoolean()) {
              capacities.observe(volume.getValue(), new FreeCapacity(left, left), now);
              capacities.created("default/" + volume.getKey(), now);
            } else {
              capacities.created("default/" + volume.getKey(), now);
              capacities.observe(volume.getValue(), new FreeCapacity(left, left), now);
            }
          }
        }
      }
    }
    assertThat(waiting).as("seed %d: pods without node", seed).isEmpty();
    assertThat(capacities.reservedVolumes()).isZero();
    assertThat(free.values()).containsOnly(0L);
  }

  private void observe(String node, long bytes) {
    capacities.observe(node, new FreeCapacity(bytes, bytes), now);
  }

  private void observeNumaNodes(String node, long first, long second) {
    capacities.observe(
        node,
        new FreeCapacity(first + second, Math.max(first, second)),
        Map.of("0", new FreeCapacity(first, first), "1", new FreeCapacity(second, second)),
        now);
  }

  private FilterResult filterOn(String numaNode, String pod, long bytes, String node) {
    return capacities.filter(
        pod,
        List.of(new NeededVolume("default/" + pod, bytes, numaNode)),
        List.of(node),
        BY_TIME,
        now);
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
