package io.pmemcsi.driver.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Overwriting a real block device. */
class EraserIT {

  /** Not a multiple of a page, as some devices are. */
  private static final int SIZE = (20 << 20) + 3 * 512;

  @TempDir private Path directory;
  private final ProcessRunner runner = new ProcessRunner();
  private final LoopDevices loops = new LoopDevices(new KernelLoops());
  private static final VolumeId VOLUME = VolumeId.fromName("pvc-1");

  private final List<Long> progress = new ArrayList<>();
  private final Eraser eraser =
      new Eraser(
          (volume, done, _) -> {
            assertThat(volume).isEqualTo(VOLUME);
            progress.add(done);
          },
          Duration.ZERO);
  private Path file;
  private Path device;

  @BeforeEach
  void attach() throws IOException {
    file = directory.resolve("device");
    byte[] data = new byte[SIZE];
    new Random(1).nextBytes(data);
    Files.write(file, data);
    device = loops.attach(file, 0);
  }

  @AfterEach
  void detach() throws IOException {
    loops.detach(device);
  }

  private Device volume() {
    return new Device(VOLUME, device, SIZE);
  }

  @Test
  void erasingALargeDeviceDoesNotBlockTheThreadsOfOtherCalls() throws Exception {
    List<Boolean> virtual = new ArrayList<>();
    Eraser watched =
        new Eraser(
            (_, done, total) -> {
              if (done < total) {
                virtual.add(Thread.currentThread().isVirtual());
              }
            });

    try (ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor()) {
      calls
          .submit(
              () -> {
                watched.erase(volume());
                return true;
              })
          .get();
    }

    assertThat(virtual).isNotEmpty().containsOnly(false);
  }

  @Test
  void theLogReportsProgress() throws IOException {
    ByteArrayOutputStream log = new ByteArrayOutputStream();
    Logging.configure(LogFormat.TEXT, new Verbosity(3), log);
    try {
      eraser.erase(volume());
    } finally {
      Logging.configure(LogFormat.TEXT, new Verbosity(0), OutputStream.nullOutputStream());
    }

    assertThat(log.toString(StandardCharsets.UTF_8))
        .contains("Erasing.")
        .contains(VOLUME.value())
        .containsPattern("percent=\"?39");
  }

  @Test
  void everyByteIsZeroedAndProgressIsReported() throws IOException {
    eraser.erase(volume());

    assertThat(Files.readAllBytes(file)).isEqualTo(new byte[SIZE]);
    assertThat(progress).isSorted().hasSizeGreaterThan(2).startsWith(0L).endsWith((long) SIZE);
  }

  @Test
  void aDeviceInUseIsNotErased() throws IOException {
    runner.run(Command.of("mkfs.ext4", "-q", "-F", device.toString()));
    Path mountPoint = Files.createDirectory(directory.resolve("mnt"));
    runner.run(Command.of("mount", device.toString(), mountPoint.toString()));
    try {
      assertThatExceptionOfType(BlockDevices.BusyException.class)
          .isThrownBy(() -> eraser.erase(volume()));
      assertThat(progress).isEmpty();
    } finally {
      runner.run(Command.of("umount", mountPoint.toString()));
    }
  }

  @Test
  void aFileThatIsNotADeviceIsNotErased() throws IOException {
    byte[] before = Files.readAllBytes(file);

    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> eraser.erase(new Device(VOLUME, file, SIZE)))
        .withMessageContaining("is not a block device");

    assertThat(Files.readAllBytes(file)).isEqualTo(before);
  }

  @Test
  void aCancelledCallStopsErasing() {
    Cancellation call = new Cancellation();
    call.cancel();

    call.serve(
        () ->
            assertThatExceptionOfType(ToolFailedException.class)
                .isThrownBy(() -> eraser.erase(volume()))
                .withMessageContaining("cancelled"));
    assertThat(progress).as("erase has stopped").containsExactly(0L, (long) SIZE);
  }

  /** Cancels the given call as soon as the first chunk is overwritten. */
  private Eraser impatient(Cancellation call) {
    return new Eraser(
        (_, done, _) -> {
          progress.add(done);
          if (done > 0) {
            call.cancel();
          }
        });
  }

  private static void assertStopped(Cancellation call, Eraser eraser, Device volume) {
    call.serve(
        () ->
            assertThatExceptionOfType(ToolFailedException.class)
                .isThrownBy(() -> eraser.erase(volume)));
  }

  @Test
  void theNextCallResumesACancelledErase() throws IOException {
    Cancellation call = new Cancellation();
    Eraser impatient = impatient(call);
    assertStopped(call, impatient, volume());
    long stopped = progress.get(1);
    progress.clear();

    impatient.erase(volume());

    assertThat(progress).startsWith(stopped).isSorted();
    assertThat(Files.readAllBytes(file)).isEqualTo(new byte[SIZE]);
  }

  @Test
  void anotherDeviceOfTheSameVolumeIsErasedFromItsBeginning() throws IOException {
    Cancellation call = new Cancellation();
    Eraser impatient = impatient(call);
    assertStopped(call, impatient, volume());
    byte[] data = new byte[SIZE];
    new Random(2).nextBytes(data);
    Files.write(device, data, StandardOpenOption.WRITE);
    impatient.forget(VOLUME);

    impatient.erase(volume());

    assertThat(Files.readAllBytes(file)).isEqualTo(new byte[SIZE]);
  }
}
