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

/** A folder of a test, and the question whether anything is left of it in the kernel. */
final class Scratch implements AutoCloseable {

  private final ProcessRunner runner = new ProcessRunner();
  private final LoopDevices loops = new LoopDevices(new KernelLoops());
  private final Path folder;

  Scratch() {
    try {
      folder = Files.createTempDirectory("pmem-csi-test").toRealPath();
      Files.createDirectory(folder.resolve("pods"));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  Path folder() {
    return folder;
  }

  Path state() {
    return folder.resolve("state");
  }

  /** What kubelet provides. */
  Path pods() {
    return folder.resolve("pods");
  }

  /** A path in a parent that exists. */
  Path pod(String name) {
    return pods().resolve(name);
  }

  /** Devices, loops, mounts and ledger agree that there is nothing. */
  void assertNothingLeft() {
    assertThat(mounts()).as("mounts").isEmpty();
    // whoever lists the machine's loop devices keeps one alive for a moment after its removal
    await().untilAsserted(() -> assertThat(loopDevices()).as("loop devices").isEmpty());
    assertThat(names(state().resolve("devices"))).as("device files").isEmpty();
    assertThat(names(state().resolve("contents"))).as("contents records").isEmpty();
    assertThat(names(state().resolve("unfinished"))).as("unfinished mounts").isEmpty();
    assertThat(names(state().resolve("mount"))).as("Kata mounts").isEmpty();
    if (Files.exists(state())) {
      Ledger ledger = Ledger.openForReading(state());
      assertThat(ledger.records()).as("ledger").isEmpty();
      assertThat(ledger.damaged()).as("damaged").isEmpty();
    }
    assertThat(names(folder.resolve("pods"))).as("pod folders").isEmpty();
  }

  List<Path> mounts() {
    return MountTable.read().entries().stream()
        .map(MountEntry::mountPoint)
        .filter(path -> path.startsWith(folder))
        .toList();
  }

  private List<LoopDevices.Loop> loopDevices() {
    try {
      return loops.all().stream().filter(this::isOwn).toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** By the name of its file, which may be deleted by now. */
  private boolean isOwn(LoopDevices.Loop loop) {
    return LoopDevices.backingName(loop.device())
        .filter(name -> name.startsWith(folder + "/"))
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

  /** Whatever a failed test has left is removed, so that the next one is not disturbed. */
  @Override
  public void close() {
    for (Path mount : mounts().reversed()) {
      runner.run(Command.of("umount", "--lazy", mount.toString()).alsoAccepting(1, 32));
    }
    for (LoopDevices.Loop loop : loopDevices()) {
      runner.run(Command.of("losetup", "-d", loop.device().toString()).alsoAccepting(1));
    }
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
