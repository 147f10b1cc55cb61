package io.pmemcsi.operator.pmemdriver;

import io.fabric8.kubernetes.api.model.Pod;
import io.pmemcsi.api.pmem.UnpreparedNode;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Finds the nodes on which a driver runs but has nothing to give. The pods are asked in the
 * background: a node that does not answer must not hold up the repair of another.
 */
final class NodeMemory {

  private static final Duration FORGET = Duration.ofMinutes(30);

  /** Thousands of nodes are not asked all at once. */
  private static final int AT_ONCE = 32;

  private record Answer(Instant asked, OptionalLong managedBytes) {}

  private final MemoryReader reader;
  private final Clock clock;
  private final Duration askAgain;
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final Semaphore turns = new Semaphore(AT_ONCE);

  /**
   * Knows nothing at first.
   *
   * @param askAgain how soon to ask a node again that has nothing, or that gave no answer
   */
  NodeMemory(MemoryReader reader, Clock clock, Duration askAgain) {
    this.reader = reader;
    this.clock = clock;
    this.askAgain = askAgain;
  }

  /**
   * The nodes that are known to have no usable memory.
   *
   * @param pods of the driver on the nodes
   * @param before nodes that had none when they were last asked, perhaps by an earlier process
   * @param changed is called when more is known, or when it is time to ask again
   */
  List<UnpreparedNode> unprepared(
      List<Pod> pods, PmemNames names, Set<String> before, Runnable changed) {
    pods.forEach(pod -> ask(pod, before.contains(pod.getSpec().getNodeName()), changed));
    answers.values().removeIf(answer -> clock.instant().isAfter(answer.asked().plus(FORGET)));
    return pods.stream()
        .filter(
            pod ->
                hasNothing(
                    answers.get(pod.getMetadata().getUid()),
                    before.contains(pod.getSpec().getNodeName())))
        .map(pod -> pod.getSpec().getNodeName())
        .sorted(Comparator.naturalOrder())
        .map(
            node ->
                new UnpreparedNode(
                    node,
                    ("The driver %s manages no persistent memory: free memory in a region of the"
                            + " node (docs/prerequisites.md), remove the node's label, or, for a"
                            + " trial, use deviceMode file.")
                        .formatted(names.driverName())))
        .toList();
  }

  /** Memory that was found once stays; an empty node may be prepared at any time. */
  private void ask(Pod pod, boolean hadNothing, Runnable changed) {
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
              turns.acquireUninterruptibly();
              OptionalLong bytes;
              try {
                bytes = reader.managedBytes(ip);
              } finally {
                turns.release();
              }
              // no answer is no news
              var answer =
                  new Answer(
                      clock.instant(),
                      bytes.isEmpty() && known != null ? known.managedBytes() : bytes);
              Answer before = answers.put(uid, answer);
              if (bytes.isEmpty()) {
                LockSupport.parkNanos(askAgain.toNanos());
                changed.run();
              } else if (hasNothing(before, hadNothing) != hasNothing(answer, hadNothing)) {
                changed.run();
              }
            });
  }

  private boolean due(Answer known) {
    Instant now = clock.instant();
    // asked in the future: the clock was set back
    return known.managedBytes().orElse(0) == 0
        && (now.isBefore(known.asked()) || !now.isBefore(known.asked().plus(askAgain)));
  }

  private static boolean hasNothing(@Nullable Answer answer, boolean before) {
    if (answer == null || answer.managedBytes().isEmpty()) {
      return before;
    }
    return answer.managedBytes().getAsLong() == 0;
  }
}
