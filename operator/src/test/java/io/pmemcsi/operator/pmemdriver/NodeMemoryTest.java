package io.pmemcsi.operator.pmemdriver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.base.names.DriverName;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeMemoryTest {

  private static final PmemNames NAMES = new PmemNames(new DriverName("a.example.com"));

  @Test
  void nodesWithoutMemoryAreReportedOnceTheyResponded() {
    var changes = new AtomicInteger();
    Map<String, OptionalLong> answers =
        Map.of(
            "10.0.0.1", OptionalLong.of(0),
            "10.0.0.2", OptionalLong.of(1L << 30),
            "10.0.0.3", OptionalLong.empty());
    var memory =
        new NodeMemory(
            ip -> answers.getOrDefault(ip, OptionalLong.empty()),
            Clock.systemUTC(),
            Duration.ofMinutes(1));
    List<Pod> pods = List.of(pod("n1", "10.0.0.1"), pod("n2", "10.0.0.2"), pod("n3", "10.0.0.3"));

    memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet);

    await().untilAsserted(() -> assertThat(changes).hasValue(1));
    assertThat(memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet))
        .containsExactly(
            new UnpreparedNode(
                "n1",
                "The driver a.example.com manages no persistent memory: free memory in a region of"
                    + " the node (docs/prerequisites.md), remove the node's label, or, for a trial,"
                    + " use deviceMode file."));
  }

  @Test
  void nodeThatDoesNotRespondIsPolledAgain() {
    var changes = new AtomicInteger();
    var asked = new AtomicInteger();
    var memory =
        new NodeMemory(
            ip -> asked.incrementAndGet() == 1 ? OptionalLong.empty() : OptionalLong.of(0),
            Clock.systemUTC(),
            Duration.ZERO);
    List<Pod> pods = List.of(pod("n1", "10.0.0.1"));

    memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet);
    await().untilAsserted(() -> assertThat(changes).hasValue(1));
    memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet);

    await().untilAsserted(() -> assertThat(changes).hasValue(2));
    assertThat(memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet))
        .extracting(UnpreparedNode::node)
        .containsExactly("n1");
  }

  @Test
  void emptyNodeIsPolledAgainAlsoWhenTheClockIsSetBack() {
    var now = new AtomicReference<>(Instant.parse("2030-01-01T00:00:00Z"));
    InstantSource clock = now::get;
    var changes = new AtomicInteger();
    var asked = new AtomicInteger();
    var memory =
        new NodeMemory(
            ip -> OptionalLong.of(asked.getAndIncrement()),
            clock.withZone(ZoneOffset.UTC),
            Duration.ofMinutes(1));
    List<Pod> pods = List.of(pod("n1", "10.0.0.1"));
    memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet);
    await().untilAsserted(() -> assertThat(changes).hasValue(1));

    now.updateAndGet(time -> time.minus(Duration.ofDays(1)));
    memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet);

    await().untilAsserted(() -> assertThat(changes).hasValue(2));
    assertThat(memory.unprepared(pods, NAMES, Set.of(), changes::incrementAndGet)).isEmpty();
  }

  /** A restarted operator has no state, but the status has. */
  @Test
  void nodeIsReportedUntilItHasMemory() {
    var changes = new AtomicInteger();
    var go = new CountDownLatch(1);
    var memory =
        new NodeMemory(
            ip -> {
              try {
                go.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              return OptionalLong.of(ip.equals("10.0.0.1") ? 0 : 1);
            },
            Clock.systemUTC(),
            Duration.ofMinutes(1));
    List<Pod> pods = List.of(pod("n1", "10.0.0.1"), pod("n2", "10.0.0.2"));
    Set<String> before = Set.of("n1", "n2");

    assertThat(memory.unprepared(pods, NAMES, before, changes::incrementAndGet)).hasSize(2);
    go.countDown();

    await().untilAsserted(() -> assertThat(changes).hasValue(1));
    assertThat(memory.unprepared(pods, NAMES, before, changes::incrementAndGet))
        .extracting(UnpreparedNode::node)
        .containsExactly("n1");
  }

  @Test
  void notAllNodesArePolledAtOnce() {
    var now = new AtomicInteger();
    var most = new AtomicInteger();
    var done = new AtomicInteger();
    var memory =
        new NodeMemory(
            ip -> {
              most.accumulateAndGet(now.incrementAndGet(), Math::max);
              now.decrementAndGet();
              done.incrementAndGet();
              return OptionalLong.of(1);
            },
            Clock.systemUTC(),
            Duration.ofMinutes(1));

    memory.unprepared(
        IntStream.range(0, 1000).mapToObj(i -> pod("n" + i, "10.0.0.1")).toList(),
        NAMES,
        Set.of(),
        () -> {});

    await().untilAsserted(() -> assertThat(done).hasValue(1000));
    assertThat(most.get()).isLessThanOrEqualTo(32);
  }

  @Test
  void managedMemoryIsReadFromTheMetricsHoweverMuchThereIs() {
    assertThat(
            MemoryReader.managed(
                """
                # TYPE pmem_amount_managed gauge
                pmem_amount_managed{driver_name="d",node="n"} 6.8719476736E10
                pmem_amount_total{driver_name="d",node="n"} 9.0E10
                pmem_amount_available{driver_name="d",node="n"} 1.0
                """))
        .hasValue(68719476736L);
    assertThat(MemoryReader.managed("build_info 1.0")).isEmpty();
  }

  private static Pod pod(String node, String ip) {
    return new PodBuilder()
        .withNewMetadata()
        .withName("pod-" + node)
        .withUid(node)
        .endMetadata()
        .withNewSpec()
        .withNodeName(node)
        .endSpec()
        .withNewStatus()
        .withPodIP(ip)
        .endStatus()
        .build();
  }
}
