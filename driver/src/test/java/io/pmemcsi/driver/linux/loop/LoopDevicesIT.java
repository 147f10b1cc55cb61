package io.pmemcsi.driver.linux.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.LoopDevices.Loop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Loop devices of the real kernel; verified with losetup. */
class LoopDevicesIT {

  private static final long MIB = 1 << 20;

  @TempDir Path directory;

  private final ProcessRunner runner = new ProcessRunner();
  private final CountingLoops kernel = new CountingLoops();
  private final LoopDevices loops = new LoopDevices(kernel);

  /** Counts how often all devices of the node are examined. */
  private static final class CountingLoops implements LoopCalls {
    private final KernelLoops real = new KernelLoops();
    private int scans;

    @Override
    public Path attach(Path file, long offset) throws IOException {
      return real.attach(file, offset);
    }

    @Override
    public void detach(Path device) throws IOException {
      real.detach(device);
    }

    @Override
    public void refreshSize(Path device) throws IOException {
      real.refreshSize(device);
    }

    @Override
    public Optional<Status> status(Path device) throws IOException {
      return real.status(device);
    }

    @Override
    public List<Path> attached() throws IOException {
      scans++;
      return real.attached();
    }
  }

  @AfterEach
  void detachAll() throws IOException {
    for (Path device : new KernelLoops().attached()) {
      if (LoopDevices.backingName(device).orElse("").startsWith(directory.toString())) {
        loops.detach(device);
      }
    }
  }

  private Path file(String name, long size) throws IOException {
    Path file = directory.toRealPath().resolve(name);
    runner.run(Command.of("truncate", "--size=" + size, file.toString()));
    return file;
  }

  private String losetup(Path device, String column) {
    return runner
        .run(Command.of("losetup", "--noheadings", "--output", column, device.toString()))
        .stdout()
        .strip();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFileIsAttachedFromAnOffsetOn(boolean newKernel) throws IOException {
    Path file = file("a", 8 * MIB);

    Path device = new KernelLoops(newKernel).attach(file, 2 * MIB);

    assertThat(losetup(device, "BACK-FILE")).isEqualTo(file.toString());
    assertThat(losetup(device, "OFFSET")).isEqualTo(Long.toString(2 * MIB));
    assertThat(losetup(device, "DIO")).isEqualTo("1");
    assertThat(losetup(device, "RO")).isEqualTo("0");
    assertThat(loops.find(file, 2 * MIB))
        .contains(new Loop(device, FileIdentity.of(file), 2 * MIB));
    assertThat(loops.find(file, 0)).isEmpty();
  }

  @Test
  void theDeviceOfARenamedFileIsFound() throws IOException {
    Path file = file("a", MIB);
    Path device = loops.attach(file, 0);
    Path renamed = Files.move(file, file.resolveSibling("b"));

    assertThat(loops.ensure(renamed, 0)).isEqualTo(device);
    assertThat(new LoopDevices(kernel).ensure(renamed, 0)).isEqualTo(device);
  }

  @Test
  void aDetachedDeviceIsNotFound() throws IOException {
    Path file = file("a", MIB);
    Path device = loops.attach(file, 0);

    loops.detach(device);

    assertThat(loops.of(file)).isEmpty();
    assertThat(new KernelLoops().status(device)).isEmpty();
  }

  @Test
  void aDeviceReusedByAnotherProgramIsNotMistakenForTheOldOne() throws IOException {
    Path file = file("a", MIB);
    Path device = loops.attach(file, 0);
    runner.run(Command.of("losetup", "--detach", device.toString()));
    runner.run(Command.of("losetup", device.toString(), file("other", MIB).toString()));

    assertThat(loops.of(file)).isEmpty();
  }

  @Test
  void aDeviceThatAnotherProgramAttachedIsFound() throws IOException {
    Path file = file("a", MIB);
    Path first = loops.attach(file, 0);
    String second =
        runner.run(Command.of("losetup", "--find", "--show", file.toString())).stdout().strip();

    loops.detach(first);

    assertThat(loops.of(file)).extracting(Loop::device).containsExactly(Path.of(second));
  }

  @Test
  void theLifecycleOfADeviceExaminesNoOtherDevice() throws IOException {
    Path file = file("a", MIB);

    assertThat(loops.of(file)).isEmpty();
    Path device = loops.ensure(file, 0);
    assertThat(loops.ensure(file, 0)).isEqualTo(device);
    loops.detach(device);
    assertThat(loops.of(file)).isEmpty();

    assertThat(kernel.scans).isZero();
  }

  @Test
  void aDeviceBecomesAsLargeAsItsFile() throws IOException {
    Path file = file("a", MIB);
    Path device = loops.attach(file, 0);
    file("a", 3 * MIB);

    loops.refreshSize(device);

    assertThat(runner.run(Command.of("blockdev", "--getsize64", device.toString())).stdout())
        .isEqualTo(3 * MIB + "\n");
  }

  @Test
  void concurrentlyAttachedDevicesAreDifferent() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Path file = file("file-" + i, MIB);
      threads.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      loops.attach(file, 0);
                    } catch (IOException e) {
                      throw new IllegalStateException(e);
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }

    for (int i = 0; i < 8; i++) {
      assertThat(loops.of(directory.resolve("file-" + i))).hasSize(1);
    }
  }

  @Test
  void aFileThatDoesNotExistIsNamed() {
    assertThatExceptionOfType(NoSuchFileException.class)
        .isThrownBy(() -> loops.of(directory.resolve("missing")))
        .withMessageContaining("missing");
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> loops.attach(directory.resolve("missing"), 0))
        .withMessageContaining("missing: No such file or directory");
  }
}
