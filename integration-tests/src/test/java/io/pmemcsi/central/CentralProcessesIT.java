package io.pmemcsi.central;

import static io.pmemcsi.central.CentralProcesses.CONTROLLER;
import static io.pmemcsi.central.CentralProcesses.START;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One controller and three nodes, of which some are lost. */
class CentralProcessesIT {

  /** Less than a connection without answers is kept. */
  private static final Duration SHORT = Duration.ofSeconds(5);

  private final CentralProcesses cluster;

  CentralProcessesIT(@TempDir Path directory) {
    cluster = new CentralProcesses(directory);
  }

  @BeforeEach
  void start() throws IOException {
    cluster.startController();
    for (String node : List.of("node-1", "node-2", "node-3")) {
      cluster.startNode(node);
    }
  }

  @AfterEach
  void end() throws IOException {
    try (cluster) {
      cluster.assertNoKeyInLogs();
    }
  }

  @Test
  void nothingIsLostWhenProcessesAreKilled() throws IOException {
    Volume first = cluster.create("first", "node-2");
    Volume second = cluster.create("second", "node-1");

    cluster.kill("node-2");
    assertFails(() -> cluster.delete(first));
    assertThat(cluster.volumes()).contains(first.getVolumeId());

    cluster.kill(CONTROLLER);
    cluster.startNode("node-2", cluster.issue(CentralProcesses.NODE_ROLE));
    cluster.startController();
    for (Volume volume : List.of(first, second)) {
      retry(() -> cluster.delete(volume));
    }
    assertThat(cluster.volumes()).isEmpty();
    assertThat(cluster.images()).isEmpty();
  }

  @Test
  void aPartitionDuringACreationLeavesExactlyOneVolume() throws Exception {
    cluster.partition("node-2");
    assertFails(() -> cluster.create("cut-off", "node-2", SHORT));
    cluster.delete(cluster.create("elsewhere", "node-1"));

    cluster.endPartition("node-2");
    retry(() -> cluster.create("cut-off", "node-2"));

    assertThat(cluster.volumes()).hasSize(1);
    assertThat(cluster.images()).hasSize(1);
  }

  @Test
  void aPartitionDuringADeletionIsNeverASuccess() throws Exception {
    Volume volume = cluster.create("cut-off", "node-2");

    cluster.partition("node-2");
    assertFails(() -> cluster.delete(volume, SHORT));
    assertThat(cluster.volumes()).contains(volume.getVolumeId());

    cluster.endPartition("node-2");
    retry(() -> cluster.delete(volume));
    assertThat(cluster.volumes()).isEmpty();
    assertThat(cluster.images()).isEmpty();
  }

  private static void assertFails(ThrowingCallable call) {
    assertThatExceptionOfType(StatusRuntimeException.class)
        .isThrownBy(call)
        .satisfies(
            e ->
                assertThat(e.getStatus().getCode())
                    .isIn(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED));
  }

  /** As the provisioner does. */
  private static void retry(Runnable call) {
    Set<Status.Code> transientCodes =
        Set.of(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED, Status.Code.ABORTED);
    await()
        .atMost(START)
        .ignoreExceptionsMatching(e -> transientCodes.contains(Status.fromThrowable(e).getCode()))
        .until(
            () -> {
              call.run();
              return true;
            });
  }
}
