package io.pmemcsi.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.MountTable;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A directory of a test, with checks that no mounts, loop devices or records remain. */
final class Scratch implements AutoCloseable {

  private final ProcessRunner runner = new ProcessRunner();
  private final LoopDevices loops = new LoopDevices(new KernelLoops());
  private final Path directory;

  Scratch() {
    try {
      directory = Files.createTempDirectory("pmem-csi-test").toRealPath();
      Files.createDirectory(directory.resolve("pods"));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  Path directory() {
    return directory;
  }

  Path state() {
    return directory.resolve("state");
  }

  /** What kubelet provides. */
  Path pods() {
    return directory.resolve("pods");
  }

  /** A path in a parent that exists. */
  Path pod(String name) {
    return pods().resolve(name);
  }

  /** Asserts that there are no devices, loop devices, mounts and ledger entries. */
  void assertNothingLeft() {
    assertThat(mounts()).as("mounts").isEmpty();
    assertNoVolumesLeft();
    assertThat(names(state().resolve("contents"))).as("contents records").isEmpty();
    assertThat(names(directory.resolve("pods"))).as("pod directories").isEmpty();
  }

  /** Asserts that there are no devices and ledger entries. */
  void assertNoVolumesLeft() {
    // a process that lists loop devices holds one open for a moment after its removal
    await().untilAsserted(() -> assertThat(loopDevices()).as("loop devices").isEmpty());
    assertThat(names(state().resolve("devices"))).as("device files").isEmpty();
    assertThat(names(state().resolve("unfinished"))).as("unfinished mounts").isEmpty();
    assertThat(names(state().resolve("mount"))).as("Kata mounts").isEmpty();
    if (Files.exists(state())) {
      Ledger ledger = Ledger.openForReading(state());
      assertThat(ledger.records()).as("ledger").isEmpty();
      assertThat(ledger.damaged()).as("damaged").isEmpty();
    }
  }

  List<Path> mounts() {
    return MountTable.read().entries().stream()
        .map(MountEntry::mountPoint)
        .filter(path -> path.startsWith(directory))
        .toList();
  }

  private List<LoopDevices.Loop> loopDevices() {
    try {
      return loops.all().stream().filter(this::isOwn).toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** By the name of its file, which may be deleted. */
  private boolean isOwn(LoopDevices.Loop loop) {
    return LoopDevices.backingName(loop.device())
        .filter(name -> name.startsWith(directory + "/"))
        .isPresent();
  }

  private static List<String> names(Path where) {
    if (!Files.isDirectory(where)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(where)) {
      return all.map(path -> path.getFileName().toString()).sorted().toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Removes leftovers of a failed test, so that they do not affect the next one. */
  @Override
  public void close() {
    for (Path mount : mounts().reversed()) {
      runner.run(Command.of("umount", "--lazy", mount.toString()).alsoAccepting(1, 32));
    }
    for (LoopDevices.Loop loop : loopDevices()) {
      runner.run(Command.of("losetup", "-d", loop.device().toString()).alsoAccepting(1));
    }
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
