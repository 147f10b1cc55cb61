package io.pmemcsi.controller;

import static io.pmemcsi.controller.SchedulingWorld.GIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Event;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a rolling update of the controller's Deployment does, while pods are being scheduled. */
class RollingRestartIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** A proxy observes the end of a replica later than the replica itself. */
  private static final Duration PROXY_LAG = Duration.ofSeconds(1);

  /** Between pods, so that the nodes can take all of them. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private static final ControllerProgram.Timing TIMING =
      new ControllerProgram.Timing(
          SchedulingWorld.quick().scrape(), Duration.ofSeconds(1), Duration.ofSeconds(3));

  @TempDir Path certificates;
  private SchedulingWorld world;
  private ServiceProxy service;
  private final Deque<ControllerProgram> replicas = new ArrayDeque<>();

  @BeforeEach
  void create() throws IOException {
    world = new SchedulingWorld(certificates);
    world.markPods = true;
    service = new ServiceProxy();
  }

  @AfterEach
  void close() {
    replicas.forEach(ControllerProgram::close);
    service.close();
    world.close();
  }

  @Test
  void noSchedulingAttemptIsRefused() throws Exception {
    world.nodes(10, 100 * GIB);
    add();
    add();
    world.scheduler(service.port());
    world.burst("before", 10, GIB);
    await().atMost(LIMIT).until(() -> world.placed() == 10);
    var over = new AtomicBoolean();
    Thread pods =
        Thread.startVirtualThread(
            () -> {
              for (int i = 0; !over.get(); i++) {
                world.burst("during-" + i, 2, GIB);
                LockSupport.parkNanos(PAUSE.toNanos());
              }
            });

    replaceReplicas();
    over.set(true);
    pods.join();

    await().atMost(LIMIT).until(() -> world.podsByNode().getOrDefault("", 0L) == 0);
    assertThat(world.placed()).isGreaterThan(10);
    assertThat(failuresOfTheExtender()).isEmpty();
    assertThat(world.provisioner.refused()).isZero();
  }

  /**
   * Replicas do not share what they hold for undecided pods: a volume may be refused, and its pod
   * is scheduled again.
   */
  @Test
  void theExactFitIsReachedDuringARollingRestart() throws Exception {
    world.nodes(10, 8 * GIB);
    add();
    add();
    world.scheduler(service.port());
    Thread pods = Thread.startVirtualThread(() -> world.burst("fit", 80, GIB));

    replaceReplicas();
    pods.join();

    await().atMost(LIMIT).until(() -> world.placed() == 80 && world.provisioner.created() == 80);
    assertThat(world.podsByNode().values()).containsOnly(8L);
    assertThat(failuresOfTheExtender()).isEmpty();
  }

  private void replaceReplicas() throws InterruptedException {
    for (int i = 0; i < 2; i++) {
      add();
      remove(replicas.removeFirst());
    }
  }

  /** Starts a replica; the proxy gets to know it when it is ready. */
  private void add() {
    ControllerProgram replica = ControllerProgram.start(world.client, world.settings(0), TIMING);
    replicas.addLast(replica);
    await().atMost(LIMIT).until(() -> replica.notReady().isEmpty());
    service.add(replica.schedulerPort().orElseThrow());
  }

  /** Stops a replica to which the proxy still sends for a while. */
  private void remove(ControllerProgram replica) throws InterruptedException {
    Thread closing = Thread.startVirtualThread(replica::close);
    Thread.sleep(PROXY_LAG);
    service.remove(replica.schedulerPort().orElseThrow());
    closing.join();
  }

  private List<String> failuresOfTheExtender() {
    return world
        .client
        .v1()
        .events()
        .inNamespace(world.sandbox.namespace())
        .list()
        .getItems()
        .stream()
        .map(Event::getMessage)
        .filter(message -> message.contains("https://"))
        .toList();
  }
}
