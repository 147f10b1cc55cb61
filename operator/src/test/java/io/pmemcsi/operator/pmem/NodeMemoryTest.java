package io.pmemcsi.operator.pmem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.pmemcsi.api.pmem.UnpreparedNode;
import io.pmemcsi.base.names.DriverName;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NodeMemoryTest {

  private static final PmemNames NAMES = new PmemNames(new DriverName("a.example.com"));

  @Test
  void nodesWithoutMemoryAreNamedOnceTheyHaveAnswered() {
    var changes = new AtomicInteger();
    Map<String, OptionalLong> answers =
        Map.of(
            "10.0.0.1", OptionalLong.of(0),
            "10.0.0.2", OptionalLong.of(1L << 30),
            "10.0.0.3", OptionalLong.empty());
    var memory =
        new NodeMemory(ip -> answers.getOrDefault(ip, OptionalLong.empty()), Clock.systemUTC());
    List<Pod> pods = List.of(pod("n1", "10.0.0.1"), pod("n2", "10.0.0.2"), pod("n3", "10.0.0.3"));

    memory.unprepared(pods, NAMES, changes::incrementAndGet);

    await().untilAsserted(() -> assertThat(changes).hasValue(1));
    assertThat(memory.unprepared(pods, NAMES, changes::incrementAndGet))
        .extracting(UnpreparedNode::node)
        .containsExactly("n1");
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
