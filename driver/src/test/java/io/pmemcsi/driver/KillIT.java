package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A sample of what {@link CrashIT} enumerates, with a real process and a real kill -9; and what the
 * process does when it is asked to end.
 */
@Timeout(600)
class KillIT {

  private static final int KILLS = Boolean.getBoolean("pmem-csi.campaign") ? 30 : 3;
  private static final int STEPS = 6;
  private static final long SEED = Long.getLong("pmem-csi.kill.seed", 5);

  private final Scratch scratch = new Scratch();
  private final SplittableRandom random = new SplittableRandom(SEED);

  private int interrupted;

  @Test
  void theVolumeLifecycleContinuesAfterEachKill() throws Exception {
    try (scratch) {
      int done = 0;
      for (int kill = 0; kill < KILLS; kill++) {
        Process process = start();
        long delay = random.nextLong(20, 400);
        Thread killer =
            Thread.ofVirtual()
                .start(
                    () -> {
                      LockSupport.parkNanos(delay * 1_000_000);
                      process.destroyForcibly();
                    });
        done = continueLifecycle(done, true);
        killer.join();
        process.onExit().join();
        // a tool may outlive the driver, and calls fail with ABORTED while it holds the device
        await().until(() -> !hasProcesses(process.pid()));
      }
      Process last = start();
      try {
        assertThat(continueLifecycle(done, false)).as("seed %d", SEED).isEqualTo(STEPS);
      } finally {
        last.destroyForcibly().onExit().join();
      }
      Files.deleteIfExists(scratch.pod("staging"));
      scratch.assertNothingLeft();
      assertThat(interrupted).as("interrupted calls").isEqualTo(KILLS);
    }
  }

  /** Pods that write to a filesystem that stays frozen hang. */
  @Test
  void aDriverThatIsStoppedDuringACopyThawsTheSourceAndEnds() throws Exception {
    try (scratch) {
      Path staging = scratch.pod("staging");
      String snapshot = VolumeId.fromName("snapshot/snap-stop").value();
      Process stopped = start();
      Volume volume;
      try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
        Calls csi = new Calls(driver);
        volume = csi.create("pvc-stop", 8192 * MIB);
        csi.stage(volume, staging, mount("ext4"));
        Path frozen =
            StateDirectory.Part.PENDING_FREEZES.in(scratch.state()).resolve(volume.getVolumeId());
        Thread stop =
            Thread.ofVirtual()
                .start(
                    () -> {
                      await().until(() -> Files.exists(frozen));
                      stopped.destroy();
                    });
        assertThatCall(() -> csi.snapshot("snap-stop", volume.getVolumeId()))
            .fails(Status.Code.ABORTED, "the driver was stopped while it copied");
        stop.join();
        assertThat(stopped.waitFor(10, TimeUnit.SECONDS)).as("ended").isTrue();
        assertThat(frozen).doesNotExist();
      } finally {
        stopped.destroyForcibly().onExit().join();
      }
      KernelMounts kernel = new KernelMounts();
      assertThat(kernel.freeze(staging)).as("was not frozen").isTrue();
      kernel.thaw(staging);
      assertThat(
              Ledger.openForReading(scratch.state())
                  .find(new VolumeId(snapshot))
                  .orElseThrow()
                  .state())
          .isInstanceOf(VolumeState.Creating.class);
      Process next = start();
      try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
        Calls csi = new Calls(driver);
        csi.deleteSnapshot(snapshot);
        csi.unstage(volume.getVolumeId(), staging);
        csi.delete(volume.getVolumeId());
      } finally {
        next.destroyForcibly().onExit().join();
      }
      Files.deleteIfExists(staging);
      scratch.assertNothingLeft();
    }
  }

  private Process start() throws IOException {
    Process process =
        new ProcessBuilder(
                "setsid",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                DriverProcess.class.getName(),
                scratch.directory().toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    // the JVM may print warnings before
    assertThat(process.inputReader().lines().anyMatch("ready"::equals)).isTrue();
    return process;
  }

  private static boolean hasProcesses(long session) throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      return all.anyMatch(process -> isRunningIn(session, process));
    }
  }

  private static boolean isRunningIn(long session, Path process) {
    try {
      String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
      // after the name: state, parent, group, session
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 5);
      return fields[3].equals(Long.toString(session)) && !fields[0].equals("Z");
    } catch (IOException e) {
      return false; // no process, or it has just ended
    }
  }

  /**
   * Continues the lifecycle at its first step that is not done; returns the number of steps done.
   *
   * @param forever repeats the lifecycle until the driver is killed
   */
  private int continueLifecycle(int done, boolean forever) {
    int step = done;
    try (FileModeDriver driver = FileModeDriver.elsewhere(scratch.directory())) {
      Calls csi = new Calls(driver);
      while (step < STEPS || forever) {
        step %= STEPS;
        run(csi, step);
        step++;
      }
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).as(e.getMessage()).isEqualTo(Status.Code.UNAVAILABLE);
      interrupted++;
    }
    return step;
  }

  private void run(Calls csi, int step) {
    Path staging = scratch.pod("staging");
    Path target = scratch.pod("target");
    if (step == 5) {
      csi.deleteByName("pvc-kill");
      return;
    }
    Volume volume = csi.create("pvc-kill", 16 * MIB);
    switch (step) {
      case 0 -> {}
      case 1 -> csi.stage(volume, staging, mount("ext4"));
      case 2 -> csi.publish(volume, staging, target, mount("ext4"));
      case 3 -> csi.unpublish(volume.getVolumeId(), target);
      default -> csi.unstage(volume.getVolumeId(), staging);
    }
  }
}
