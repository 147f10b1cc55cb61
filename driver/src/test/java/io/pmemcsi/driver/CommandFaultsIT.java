package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import csi.v1.GetCapacityRequest;
import csi.v1.Snapshot;
import csi.v1.Volume;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.LoopCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Commands that fail, hang or outlive their call, and the number of commands per lifecycle. */
class CommandFaultsIT extends ScratchPerTest {

  @Test
  void aFailedCommandIsReportedAndLeavesNothing() {
    LoopCalls noLoopDevices =
        new ForwardingLoops() {
          @Override
          public Path attach(Path file, long offset) throws IOException {
            throw new IOException("no free device");
          }
        };
    try (FileModeDriver driver = start(noLoopDevices)) {

      assertThatCall(() -> new Calls(driver).create("pvc", 16 * MIB))
          .fails(Status.Code.INTERNAL, "no free device");
    }
  }

  @Test
  void aFailedCreationThatCannotBeRolledBackIsFinishedByTheNextCall() {
    boolean[] broken = {true};
    LoopCalls sometimes =
        new ForwardingLoops() {
          @Override
          public Path attach(Path file, long offset) throws IOException {
            Path device = super.attach(file, offset);
            if (broken[0]) {
              throw new IOException("killed after it was attached");
            }
            return device;
          }

          @Override
          public void detach(Path device) throws IOException {
            if (broken[0]) {
              throw new IOException("cannot be detached");
            }
            super.detach(device);
          }
        };
    try (FileModeDriver driver = start(sometimes)) {
      Calls csi = new Calls(driver);
      assertThatCall(() -> csi.create("pvc", 16 * MIB))
          .fails(Status.Code.ABORTED, "could not be undone");
      assertThat(NodeDriver.audit(FileModeDriver.settings(scratch.directory())).toString())
          .contains("unfinished-create");

      broken[0] = false;
      csi.create("pvc", 16 * MIB);
      csi.deleteByName("pvc");
    }
  }

  @Test
  void aCancelledCallKillsItsCommandAndCanBeRepeated() throws Exception {
    CountDownLatch formatting = new CountDownLatch(1);
    CountDownLatch killed = new CountDownLatch(1);
    ProcessRunner real = new ProcessRunner();
    CommandRunner hanging =
        command -> {
          if (command.program().startsWith("mkfs") && formatting.getCount() > 0) {
            formatting.countDown();
            try {
              return real.run(Command.of("sleep", "600"));
            } finally {
              killed.countDown();
            }
          }
          return real.run(command);
        };
    try (FileModeDriver driver = start(hanging)) {
      Calls csi = new Calls(driver);
      Volume volume = csi.create("pvc", 16 * MIB);
      Context.CancellableContext call = Context.current().withCancellation();
      Runnable stage =
          () ->
              assertThatExceptionOfType(StatusRuntimeException.class)
                  .isThrownBy(() -> csi.stage(volume, scratch.pod("staging"), mount("")));
      Thread caller = Thread.ofVirtual().start(call.wrap(stage));
      assertThat(formatting.await(120, SECONDS)).isTrue();

      call.cancel(null);

      assertThat(killed.await(120, SECONDS)).isTrue();
      caller.join();
      await()
          .ignoreExceptions()
          .until(
              () -> {
                csi.stage(volume, scratch.pod("staging"), mount(""));
                return true;
              });
      csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
      csi.delete(volume.getVolumeId());
    }
  }

  @Test
  void aCancelledCreationLeavesNothingAndKeepsTheCapacity() throws Exception {
    CountDownLatch attaching = new CountDownLatch(1);
    ProcessRunner real = new ProcessRunner();
    LoopCalls hanging =
        new ForwardingLoops() {
          @Override
          public Path attach(Path file, long offset) throws IOException {
            Path device = super.attach(file, offset);
            attaching.countDown();
            real.run(Command.of("sleep", "600"));
            return device;
          }
        };
    try (FileModeDriver driver = start(hanging)) {
      Calls csi = new Calls(driver);
      Context.CancellableContext call = Context.current().withCancellation();
      Runnable create =
          () ->
              assertThatExceptionOfType(StatusRuntimeException.class)
                  .isThrownBy(() -> csi.create("pvc", 16 * MIB));
      Thread caller = Thread.ofVirtual().start(call.wrap(create));
      assertThat(attaching.await(120, SECONDS)).isTrue();

      call.cancel(null);

      caller.join();
      // another call for the volume waits until the cancelled call has cleaned up
      assertThatCall(
              () -> csi.expand(VolumeId.fromName("pvc").value(), scratch.pod("target"), 32 * MIB))
          .fails(Status.Code.NOT_FOUND, "does not exist");
      scratch.assertNothingLeft();
      assertThat(
              driver
                  .controller()
                  .getCapacity(GetCapacityRequest.getDefaultInstance())
                  .getAvailableCapacity())
          .isEqualTo(FileModeDriver.POOL);
    }
  }

  /** Sidecars give up after minutes; the copy of a large volume takes longer. */
  @ParameterizedTest
  @CsvSource({"ext4, 16, e2fsck", "xfs, 320, xfs_admin"})
  void aSnapshotWhoseCallerGaveUpIsFoundByTheNextCall(String type, long mib, String lastTool)
      throws Exception {
    AtomicInteger copies = new AtomicInteger();
    Context.CancellableContext call = Context.current().withCancellation();
    ProcessRunner real = new ProcessRunner();
    CommandRunner impatient =
        command -> {
          if (command.program().equals(lastTool) && copies.incrementAndGet() == 1) {
            Context server = Context.current();
            call.cancel(null);
            await().until(server::isCancelled);
          }
          return real.run(command);
        };
    try (FileModeDriver driver = start(impatient)) {
      Calls csi = new Calls(driver);
      Volume volume = csi.create("pvc", mib * MIB);
      csi.stage(volume, scratch.pod("staging"), mount(type));

      call.run(
          () ->
              assertThatExceptionOfType(StatusRuntimeException.class)
                  .isThrownBy(() -> csi.snapshot("snap", volume.getVolumeId())));
      Snapshot snapshot = csi.snapshot("snap", volume.getVolumeId());

      assertThat(snapshot.getReadyToUse()).isTrue();
      assertThat(copies).hasValue(1);
      csi.deleteSnapshot(snapshot.getSnapshotId());
      csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
      csi.delete(volume.getVolumeId());
    }
  }

  /** All other steps are system calls. */
  @Test
  void theWholeVolumeLifecycleTakesOneCommand() throws IOException {
    List<String> programs = Collections.synchronizedList(new ArrayList<>());
    ProcessRunner real = new ProcessRunner();
    CommandRunner counting =
        command -> {
          programs.add(command.program());
          return real.run(command);
        };
    try (FileModeDriver driver = start(counting)) {
      Calls csi = new Calls(driver);
      programs.clear();

      Volume volume = csi.create("pvc", 16 * MIB);
      csi.stage(volume, scratch.pod("staging"), mount("ext4"));
      csi.publish(volume, scratch.pod("staging"), scratch.pod("pod"), mount("ext4"));

      csi.unpublish(volume.getVolumeId(), scratch.pod("pod"));
      csi.unstage(volume.getVolumeId(), scratch.pod("staging"));
      csi.delete(volume.getVolumeId());

      assertThat(programs).containsExactly("mkfs.ext4");
    }
    Files.delete(scratch.pod("staging"));
  }
}
