package io.pmemcsi.operator.pmem;

import io.fabric8.kubernetes.api.model.Pod;
import io.pmemcsi.api.pmem.UnpreparedNode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds the nodes on which a driver runs but has nothing to give. The pods are asked in the
 * background: a node that does not answer must not hold up the repair of another.
 */
final class NodeMemory {

  private static final Duration ASK_AGAIN = Duration.ofMinutes(1);
  private static final Duration FORGET = Duration.ofMinutes(30);

  private record Answer(Instant asked, OptionalLong managedBytes) {}

  private final MemoryReader reader;
  private final Clock clock;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();

  NodeMemory(MemoryReader reader, Clock clock) {
    this.reader = reader;
    this.clock = clock;
  }

  /**
   * The nodes that are known to have no usable memory.
   *
   * @param pods of the driver on the nodes
   * @param changed is called when more is known
   */
  List<UnpreparedNode> unprepared(List<Pod> pods, PmemNames names, Runnable changed) {
    pods.forEach(pod -> ask(pod, changed));
    answers.values().removeIf(answer -> clock.instant().isAfter(answer.asked().plus(FORGET)));
    return pods.stream()
        .filter(pod -> hasNothing(answers.get(pod.getMetadata().getUid())))
        .map(pod -> pod.getSpec().getNodeName())
        .sorted(Comparator.naturalOrder())
        .map(
            node ->
                new UnpreparedNode(
                    node,
                    "The driver %s manages no persistent memory: create regions and namespaces on"
                            .formatted(names.driverName())
                        + " the node, then restart the driver's pod."))
        .toList();
  }

  /** Memory that was found once stays; an empty node may be prepared at any time. */
  private void ask(Pod pod, Runnable changed) {
    String ip = pod.getStatus() == null ? null : pod.getStatus().getPodIP();
    String uid = pod.getMetadata().getUid();
    Answer known = answers.get(uid);
    if (ip == null || ip.isEmpty() || (known != null && !due(known))) {
      return;
    }
    answers.put(
        uid,
        new Answer(clock.instant(), known == null ? OptionalLong.empty() : known.managedBytes()));
    Thread.ofVirtual()
        .name("memory-of-" + pod.getMetadata().getName())
        .start(
            () -> {
              OptionalLong bytes = reader.managedBytes(ip);
              // no answer is no news
              var answer =
                  new Answer(
                      clock.instant(),
                      bytes.isEmpty() && known != null ? known.managedBytes() : bytes);
              Answer before = answers.put(uid, answer);
              if (hasNothing(before) != hasNothing(answer)) {
                changed.run();
              }
            });
  }

  private boolean due(Answer known) {
    return known.managedBytes().orElse(0) == 0
        && clock.instant().isAfter(known.asked().plus(ASK_AGAIN));
  }

  private static boolean hasNothing(@Nullable Answer answer) {
    return answer != null
        && answer.managedBytes().isPresent()
        && answer.managedBytes().getAsLong() == 0;
  }
}
