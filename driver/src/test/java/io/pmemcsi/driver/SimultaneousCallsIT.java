package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import csi.v1.Volume;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Concurrent calls. */
class SimultaneousCallsIT extends ScratchPerTest {

  @Test
  void inFlightCallsFinishWhenTheDriverStops() throws Exception {
    CountDownLatch formatting = new CountDownLatch(1);
    ProcessRunner real = new ProcessRunner();
    CommandRunner slow =
        command -> {
          if (command.program().startsWith("mkfs")) {
            formatting.countDown();
            real.run(Command.of("sleep", "1"));
          }
          return real.run(command);
        };
    FileModeDriver driver = start(slow);
    Volume volume = new Calls(driver).create("pvc", 16 * MIB);
    Thread caller =
        Thread.ofVirtual()
            .start(() -> new Calls(driver).stage(volume, scratch.pod("staging"), mount("ext4")));
    assertThat(formatting.await(120, SECONDS)).isTrue();

    driver.driver().close();
    caller.join();
    driver.close();

    assertThat(scratch.mounts()).containsExactly(scratch.pod("staging"));
    try (FileModeDriver next = FileModeDriver.start(scratch.directory())) {
      new Calls(next).unstage(volume.getVolumeId(), scratch.pod("staging"));
      new Calls(next).delete(volume.getVolumeId());
    }
  }

  @Test
  void callsForOneVolumeAreSerializedAndCallsForOthersAreNot() throws Exception {
    WaitingMkfs mkfs = new WaitingMkfs();
    try (FileModeDriver driver = start(mkfs);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Calls csi = new Calls(driver);
      Volume slow = csi.create("slow", 16 * MIB);
      Volume other = csi.create("other", 16 * MIB);
      List<Future<?>> calls = new ArrayList<>();
      calls.add(callers.submit(() -> csi.stage(slow, scratch.pod("slow"), mount("ext4"))));
      assertThat(mkfs.reached.await(120, SECONDS)).isTrue();

      calls.add(callers.submit(() -> csi.stage(slow, scratch.pod("slow"), mount("ext4"))));
      calls.add(callers.submit(() -> csi.delete(slow.getVolumeId())));
      csi.stage(other, scratch.pod("other"), mount("ext4"));
      csi.unstage(other.getVolumeId(), scratch.pod("other"));
      csi.delete(other.getVolumeId());
      assertThat(calls).noneMatch(Future::isDone);
      assertThat(mkfs.started).hasValue(2);

      mkfs.released.countDown();

      calls.get(0).get();
      calls.get(1).get();
      assertThatExceptionOfType(ExecutionException.class)
          .isThrownBy(() -> calls.get(2).get())
          .withMessageContaining("FAILED_PRECONDITION")
          .withMessageContaining("mounted at");
      assertThat(mkfs.started).as("formatted once each").hasValue(2);
      csi.unstage(slow.getVolumeId(), scratch.pod("slow"));
      csi.delete(slow.getVolumeId());
    }
    Files.delete(scratch.pod("slow"));
    Files.delete(scratch.pod("other"));
  }

  /** Blocks the first mkfs until the test releases it. */
  private static final class WaitingMkfs implements CommandRunner {
    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch released = new CountDownLatch(1);
    final AtomicInteger started = new AtomicInteger();
    private final ProcessRunner real = new ProcessRunner();

    @Override
    public CommandResult run(Command command) {
      if (command.program().startsWith("mkfs") && started.incrementAndGet() == 1) {
        reached.countDown();
        try {
          assertThat(released.await(120, SECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      return real.run(command);
    }
  }
}
