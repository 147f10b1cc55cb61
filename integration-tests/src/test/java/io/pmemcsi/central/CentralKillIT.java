package io.pmemcsi.central;

import static io.pmemcsi.central.CentralProcesses.CONTROLLER;
import static io.pmemcsi.central.CentralProcesses.NODE_ROLE;
import static io.pmemcsi.central.CentralProcesses.START;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SIGKILL of controller or node while a forwarded call is under way, at delays drawn from a seed.
 * The caller repeats the call: exactly one volume exists, and none after its deletion.
 */
class CentralKillIT {

  private static final int KILLS = Boolean.getBoolean("pmem-csi.campaign") ? 50 : 8;
  private static final long SEED = Long.getLong("pmem-csi.kill.seed", 5);

  /** A forwarded call takes a few milliseconds, more on a busy machine. */
  private static final int LONGEST_DELAY_NANOS = 30_000_000;

  private static final String NODE = "node-1";
  private static final Set<Status.Code> TRANSIENT =
      Set.of(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED, Status.Code.ABORTED);

  private final CentralProcesses cluster;

  CentralKillIT(@TempDir Path directory) {
    cluster = new CentralProcesses(directory);
  }

  @BeforeEach
  void start() throws IOException {
    cluster.startController();
    cluster.startNode(NODE);
  }

  @AfterEach
  void end() throws IOException {
    try (cluster) {
      cluster.assertNoKeyInLogs();
    }
  }

  @Test
  void aVolumeExistsOnceWhenAProcessIsKilledDuringAForwardedCall() throws Exception {
    var random = new Random(SEED);
    for (int kill = 1; kill <= KILLS; kill++) {
      String victim = random.nextBoolean() ? CONTROLLER : NODE;
      boolean creation = random.nextBoolean();
      int delay = random.nextInt(LONGEST_DELAY_NANOS);
      try {
        killDuringCall("volume-" + kill, victim, creation, delay);
      } catch (StatusRuntimeException | AssertionError e) {
        throw new AssertionError(
            "seed %d, kill %d: %s killed %d ns after the start of the %s: %s"
                .formatted(
                    SEED, kill, victim, delay, creation ? "creation" : "deletion", e.getMessage()),
            e);
      }
    }
  }

  private void killDuringCall(String name, String victim, boolean creation, int delay)
      throws Exception {
    Runnable call;
    if (creation) {
      call = () -> cluster.create(name, NODE);
    } else {
      Volume volume = cluster.create(name, NODE);
      call = () -> cluster.delete(volume);
    }
    Thread caller = Thread.ofVirtual().start(() -> attempt(call));
    LockSupport.parkNanos(delay);
    cluster.kill(victim);
    caller.join();
    restart(victim);

    if (creation) {
      retry(call);
      assertThat(cluster.volumes()).hasSize(1);
      assertThat(cluster.images()).hasSize(1);
      Volume volume = cluster.create(name, NODE);
      cluster.delete(volume);
    } else {
      retry(call);
    }
    assertThat(cluster.volumes()).isEmpty();
    assertThat(cluster.images()).isEmpty();
  }

  /** It may have finished before the kill. */
  private static void attempt(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).isIn(TRANSIENT);
    }
  }

  private void restart(String victim) throws IOException {
    if (victim.equals(CONTROLLER)) {
      cluster.startController();
    } else {
      cluster.startNode(NODE, cluster.issue(NODE_ROLE));
    }
  }

  /** As the provisioner does. */
  private static void retry(Runnable call) {
    await()
        .atMost(START)
        .ignoreExceptionsMatching(e -> TRANSIENT.contains(Status.fromThrowable(e).getCode()))
        .until(
            () -> {
              call.run();
              return true;
            });
  }
}
