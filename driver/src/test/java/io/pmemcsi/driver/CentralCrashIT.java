package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.request;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CreateVolumeRequest;
import csi.v1.DeleteVolumeRequest;
import csi.v1.Topology;
import csi.v1.TopologyRequirement;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.registry.ControllerUnderTest.Steps;
import io.pmemcsi.driver.registry.Relay;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Controller or node is killed at each step of a forwarded create and delete, restarts and gets the
 * same call again. Exactly one volume exists, and none after its deletion.
 */
@Timeout(900)
class CentralCrashIT {

  private static final String NAME = "pvc-crash";
  private static final String ID = VolumeId.fromName(NAME).value();

  /** The call that is interrupted. */
  enum Interrupted {
    CREATE,
    DELETE
  }

  @BeforeAll
  static void silenceExpectedErrors() {
    CrashIT.silenceExpectedErrors();
  }

  @ParameterizedTest
  @EnumSource(Interrupted.class)
  void theControllerIsKilled(Interrupted call) throws IOException {
    int steps = 0;
    for (Crash.When when : Crash.When.values()) {
      int step = 1;
      while (controllerDies(call, step, when)) {
        step++;
      }
      steps += step - 1;
    }
    // before, during and after each write, and before and after each call to a node
    assertThat(steps).as("kills").isGreaterThanOrEqualTo(5);
  }

  @ParameterizedTest
  @EnumSource(Interrupted.class)
  void theNodeIsKilled(Interrupted call) throws IOException {
    int steps = 0;
    for (Crash.When when : Crash.When.values()) {
      int step = 1;
      while (nodeDies(call, step, when)) {
        step++;
      }
      steps += step - 1;
    }
    assertThat(steps).as("kills").isGreaterThanOrEqualTo(12);
  }

  private static boolean controllerDies(Interrupted call, int step, Crash.When when)
      throws IOException {
    Death death = new Death(step, when);
    try (Scratch scratch = new Scratch();
        CentralCluster cluster = new CentralCluster(scratch.directory())) {
      cluster.startController(death, death);
      cluster.startNode("node-1");
      cluster.startNode("node-2");
      cluster.awaitRegistered();
      if (call == Interrupted.DELETE) {
        create(cluster, List.of());
      }
      death.begin();
      attempt(cluster, call);
      death.end(); // stopping a controller is no part of a call
      if (!death.happened()) {
        return false;
      }
      cluster.stopController();
      cluster.startController();
      cluster.awaitRegistered();

      // the volume stays where it may have been created, even if another node is preferred now
      assertRecovers(cluster, call, List.of("node-2"), death.at());
    }
    return true;
  }

  private static boolean nodeDies(Interrupted call, int step, Crash.When when) throws IOException {
    try (Scratch scratch = new Scratch();
        CentralCluster cluster = new CentralCluster(scratch.directory());
        Relay toRegistry = new Relay(cluster.registry())) {
      cluster.startController();
      cluster.startNode("node-2");
      if (call == Interrupted.DELETE) {
        cluster.startNode("node-1");
        cluster.awaitRegistered();
        create(cluster, List.of("node-1"));
        cluster.stopNode("node-1");
      }
      Crash crash = Crash.disarmed(step, when);
      cluster.startNode(
          cluster.nodeSettings("node-1", cluster.membership(toRegistry.endpoint())),
          new HostAccess(crash, crash, crash, crash),
          FileModeDriver.POOL);
      cluster.awaitRegistered();
      crash.arm();
      attempt(cluster, call);
      if (!crash.happened()) {
        return false;
      }
      // a process that is killed does not unregister: the controller keeps what it knows of it
      toRegistry.sever();
      cluster.stopNode("node-1");
      assertThat(cluster.controller().nodes()).contains("node-1");
      cluster.startNode("node-1");
      cluster.awaitRegistered();

      assertRecovers(cluster, call, List.of(), crash.at());
    }
    return true;
  }

  /** The first attempt, which may succeed or fail. */
  private static void attempt(CentralCluster cluster, Interrupted call) {
    try {
      switch (call) {
        case CREATE -> create(cluster, List.of("node-1"));
        case DELETE -> delete(cluster);
      }
    } catch (StatusRuntimeException e) {
      // interrupted
    }
  }

  private static void assertRecovers(
      CentralCluster cluster, Interrupted call, List<String> preferred, String at)
      throws IOException {
    try {
      if (call == Interrupted.CREATE) {
        create(cluster, preferred);
        assertThat(cluster.volumes()).containsExactly(ID);
        assertThat(cluster.devices()).hasSize(1);
        // the CO may repeat a call that got no response
        create(cluster, preferred);
        assertThat(cluster.devices()).hasSize(1);
      }
      delete(cluster);
      assertThat(cluster.volumes()).isEmpty();
      assertThat(cluster.devices()).isEmpty();
      delete(cluster);
    } catch (StatusRuntimeException | AssertionError e) {
      throw new AssertionError("killed at " + at + ": " + e.getMessage(), e);
    }
  }

  private static void create(CentralCluster cluster, List<String> preferred) {
    CreateVolumeRequest.Builder request = request(NAME, 8 * MIB);
    for (String node : preferred) {
      request.setAccessibilityRequirements(
          TopologyRequirement.newBuilder()
              .addPreferred(
                  Topology.newBuilder().putSegments(FileModeDriver.NAME + "/node", node)));
    }
    var _ = cluster.csi().withDeadlineAfter(20, SECONDS).createVolume(request.build());
  }

  private static void delete(CentralCluster cluster) {
    var _ =
        cluster
            .csi()
            .withDeadlineAfter(20, SECONDS)
            .deleteVolume(DeleteVolumeRequest.newBuilder().setVolumeId(ID).build());
  }

  /** A controller that crashes at its n-th write or call to a node. */
  private static final class Death implements StateFiles, Steps {
    private final DurableFiles files = new DurableFiles();
    private final int step;
    private final Crash.When when;
    private boolean begun;
    private boolean dead;
    private int steps;
    private String at = "";

    Death(int step, Crash.When when) {
      this.step = step;
      this.when = when;
    }

    synchronized void begin() {
      begun = true;
    }

    synchronized void end() {
      begun = false;
    }

    synchronized boolean happened() {
      return dead;
    }

    synchronized String at() {
      return "step %d, %s %s".formatted(step, when, at);
    }

    private synchronized boolean enter(String what) {
      if (dead) {
        throw new Crash.Died("dead already");
      }
      if (!begun) {
        return false;
      }
      steps++;
      if (steps == step) {
        at = what;
      }
      return steps == step;
    }

    private synchronized Crash.Died die() {
      dead = true;
      return new Crash.Died(at);
    }

    @Override
    public <T> T call(String what, Supplier<T> call) {
      boolean now = enter("call " + what);
      if (now && when == Crash.When.BEFORE) {
        throw die();
      }
      T response = call.get();
      if (now) {
        throw die();
      }
      return response;
    }

    @Override
    public void write(Path file, byte[] content) throws IOException {
      if (happened()) {
        return; // the end of a controller that does not exist any more
      }
      boolean now = enter("write " + file);
      if (now && when == Crash.When.MIDDLE) {
        Files.write(file.resolveSibling(file.getFileName() + ".tmp"), new byte[] {'{'});
      }
      if (now && when != Crash.When.AFTER) {
        throw die();
      }
      files.write(file, content);
      if (now) {
        throw die();
      }
    }

    @Override
    public void delete(Path file) throws IOException {
      boolean now = enter("delete " + file);
      if (now && when != Crash.When.AFTER) {
        throw die();
      }
      files.delete(file);
      if (now) {
        throw die();
      }
    }

    @Override
    public List<String> list(Path directory) throws IOException {
      return files.list(directory);
    }

    @Override
    public byte[] read(Path file) throws IOException {
      return files.read(file);
    }
  }
}
