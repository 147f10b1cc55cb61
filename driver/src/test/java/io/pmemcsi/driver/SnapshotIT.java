package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.cloned;
import static io.pmemcsi.driver.Calls.mount;
import static io.pmemcsi.driver.Calls.request;
import static io.pmemcsi.driver.CsiAssert.assertThatCall;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.SYNC;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.CreateVolumeRequest;
import csi.v1.Snapshot;
import csi.v1.Volume;
import csi.v1.VolumeContentSource;
import io.grpc.Status.Code;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.loop.KernelLoops;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.linux.mount.MountCalls;
import io.pmemcsi.driver.linux.mount.MountTable;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateDirectory;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What snapshots and clones hold. */
class SnapshotIT extends DriverPerTest {

  private static CreateVolumeRequest.Builder restored(String name, long bytes, Snapshot snapshot) {
    return request(name, bytes)
        .setVolumeContentSource(
            VolumeContentSource.newBuilder()
                .setSnapshot(
                    VolumeContentSource.SnapshotSource.newBuilder()
                        .setSnapshotId(snapshot.getSnapshotId())));
  }

  private Path staged(Volume volume, String type) {
    Path path = scratch.pod("staging-" + volume.getVolumeId());
    csi.stage(volume, path, mount(type));
    return path;
  }

  private void delete(Volume volume) throws IOException {
    Path path = scratch.pod("staging-" + volume.getVolumeId());
    csi.unstage(volume.getVolumeId(), path);
    Files.deleteIfExists(path);
    csi.delete(volume.getVolumeId());
  }

  private String uuid(Path mounted) {
    String device = MountTable.read().at(mounted).orElseThrow().source();
    return runner
        .run(Command.of("blkid", "--probe", "--output", "value", "-s", "UUID", device))
        .stdout()
        .strip();
  }

  @ParameterizedTest
  @CsvSource({"ext4, 16", "xfs, 320"})
  void aSnapshotHoldsWhatAMountedVolumeHeldAtThatMoment(String type, long mib) throws IOException {
    Volume volume = csi.create("pvc", mib * MIB);
    Path source = staged(volume, type);
    Files.writeString(source.resolve("file"), "before");

    Snapshot snapshot = csi.snapshot("snap", volume.getVolumeId());
    Files.writeString(source.resolve("file"), "after");
    Volume copy = csi.create(restored("copy", mib * MIB, snapshot));
    Path restored = staged(copy, type);

    assertThat(restored.resolve("file")).hasContent("before");
    assertThat(source.resolve("file")).hasContent("after");
    assertThat(uuid(restored)).isNotEqualTo(uuid(source));
    Files.writeString(restored.resolve("file"), "changed");
    Volume second = csi.create(restored("second", mib * MIB, snapshot));
    assertThat(staged(second, type).resolve("file")).hasContent("before");
    delete(volume);
    delete(copy);
    delete(second);
    csi.deleteSnapshot(snapshot.getSnapshotId());
    scratch.assertNothingLeft();
  }

  @Test
  void theFilesystemOfALargerCopyIsExpanded() throws IOException {
    Volume volume = csi.create("pvc", 320 * MIB);
    Path source = staged(volume, "xfs");
    Files.writeString(source.resolve("file"), "kept");

    Volume copy = csi.create(cloned("copy", 640 * MIB, volume));
    Path larger = staged(copy, "xfs");

    assertThat(larger.resolve("file")).hasContent("kept");
    assertThat(larger.toFile().getTotalSpace())
        .isGreaterThan(source.toFile().getTotalSpace() + 250 * MIB);
    delete(volume);
    delete(copy);
  }

  @Test
  void aLargerCopyWhoseExpansionFailedIsExpandedByTheNextCall() throws IOException {
    Volume volume = csi.create("pvc", 320 * MIB);
    Path source = staged(volume, "xfs");
    Volume copy = csi.create(cloned("copy", 640 * MIB, volume));
    driver.close();
    AtomicBoolean failed = new AtomicBoolean();
    CommandRunner failing =
        command ->
            runner.run(
                command.program().equals("xfs_growfs") && failed.compareAndSet(false, true)
                    ? Command.of("false")
                    : command);
    driver =
        FileModeDriver.start(scratch.directory(), failing, new DurableFiles(), FileModeDriver.POOL);
    csi = new Calls(driver);
    assertThatCall(() -> staged(copy, "xfs")).fails(Code.INTERNAL, "false");

    Path larger = staged(copy, "xfs");

    assertThat(larger.toFile().getTotalSpace())
        .isGreaterThan(source.toFile().getTotalSpace() + 250 * MIB);
    delete(volume);
    delete(copy);
  }

  /** As a power failure leaves it. */
  @ParameterizedTest
  @CsvSource({"ext4, 16", "xfs, 320"})
  void aFilesystemWhoseLogWasNotReplayedIsCopied(String type, long mib) throws IOException {
    Volume volume = csi.create("pvc", mib * MIB);
    Path source = staged(volume, type);
    Files.writeString(source.resolve("file"), "kept");
    runner.run(Command.of("sync", "-f", source.toString()));
    Files.createDirectory(source.resolve("directory"));
    runner.run(Command.of("xfs_io", "-x", "-c", "shutdown -f", source.toString()));
    csi.unstage(volume.getVolumeId(), source);

    Volume copy = csi.create(cloned("copy", mib * MIB, volume));

    assertThat(staged(copy, type).resolve("file")).hasContent("kept");
    staged(volume, type);
    delete(volume);
    delete(copy);
  }

  @Test
  void aRawBlockVolumeIsCopiedOnlyWhileItIsNotPublished() throws IOException {
    Volume volume = csi.create("pvc", 8 * MIB);
    Path target = scratch.pod("target");
    csi.publish(volume, scratch.pod("staging"), target, block());
    Files.writeString(target, "raw", StandardOpenOption.WRITE);

    assertThatCall(() -> csi.snapshot("snap", volume.getVolumeId()))
        .fails(Code.FAILED_PRECONDITION, "raw block volume");
    csi.unpublish(volume.getVolumeId(), target);
    Snapshot snapshot = csi.snapshot("snap", volume.getVolumeId());
    Volume copy = csi.create(restored("copy", 8 * MIB, snapshot));

    csi.publish(copy, scratch.pod("staging"), target, block());
    try (var in = Files.newInputStream(target)) {
      assertThat(new String(in.readNBytes(3), StandardCharsets.UTF_8)).isEqualTo("raw");
    }
    csi.unpublish(copy.getVolumeId(), target);
    assertThatCall(() -> staged(copy, "ext4")).fails(Code.FAILED_PRECONDITION, "raw block");
    csi.delete(volume.getVolumeId());
    csi.delete(copy.getVolumeId());
    csi.deleteSnapshot(snapshot.getSnapshotId());
    Files.deleteIfExists(scratch.pod("staging-" + copy.getVolumeId()));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aCopyThatWasInterruptedAndNotRepeatedIsRemoved(boolean snapshot) throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    staged(volume, "ext4");
    String copy =
        snapshot
            ? csi.snapshot("snap", volume.getVolumeId()).getSnapshotId()
            : csi.create(cloned("copy", 16 * MIB, volume)).getVolumeId();
    driver.close();
    Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
    ledger.setState(ledger.find(new VolumeId(copy)).orElseThrow(), new VolumeState.Creating());
    start();

    driver.driver().auditNow();
    assertThat(image(copy)).exists();
    driver.driver().auditAfter(Duration.ofMinutes(61));

    assertThat(image(copy)).doesNotExist();
    delete(volume);
    scratch.assertNothingLeft();
  }

  @Test
  void aFilesystemThatABackupToolHasFrozenStaysFrozen() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    Path source = staged(volume, "ext4");
    KernelMounts kernel = new KernelMounts();
    assertThat(kernel.freeze(source)).isTrue();
    try {
      String snapshot = csi.snapshot("snap", volume.getVolumeId()).getSnapshotId();
      assertThat(kernel.freeze(source)).isFalse();
      driver.close();
      Ledger ledger = Ledger.open(scratch.state(), new DurableFiles());
      ledger.setState(
          ledger.find(new VolumeId(snapshot)).orElseThrow(), new VolumeState.Creating());
      start();

      assertThat(kernel.freeze(source)).isFalse();
      csi.deleteSnapshot(snapshot);
    } finally {
      kernel.thaw(source);
    }
    delete(volume);
    scratch.assertNothingLeft();
  }

  @Test
  void aFreezeThatFailedIsNotThawedAtTheNextStart() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    Path source = staged(volume, "ext4");
    KernelMounts kernel = new KernelMounts();
    driver.close();
    startWith(
        new DurableFiles(),
        failing(MountCalls.class, kernel, (method, _) -> method.equals("freeze")));
    assertThatCall(() -> csi.snapshot("snap", volume.getVolumeId()))
        .fails(Code.INTERNAL, "injected");
    driver.close();
    assertThat(kernel.freeze(source)).isTrue();
    try {
      start();

      assertThat(kernel.freeze(source)).isFalse();
    } finally {
      kernel.thaw(source);
    }
    csi.deleteSnapshot(csi.snapshot("snap", volume.getVolumeId()).getSnapshotId());
    delete(volume);
    scratch.assertNothingLeft();
  }

  @Test
  void aCopyIsGoodAlthoughTheRecordOfItsFreezeRemains() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    Path source = staged(volume, "ext4");
    Path records = StateDirectory.Part.PENDING_FREEZES.in(scratch.state());
    driver.close();
    startWith(
        failing(
            StateFiles.class,
            new DurableFiles(),
            (method, file) -> method.equals("delete") && file.startsWith(records)),
        new KernelMounts());

    String snapshot = csi.snapshot("snap", volume.getVolumeId()).getSnapshotId();

    Files.writeString(source.resolve("file"), "not frozen");
    assertThat(records.resolve(volume.getVolumeId())).exists();
    restart();
    assertThat(records.resolve(volume.getVolumeId())).doesNotExist();
    csi.deleteSnapshot(snapshot);
    delete(volume);
    scratch.assertNothingLeft();
  }

  @Test
  void aFilesystemThatCannotBeThawedDoesNotPreventAStart() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);
    Path source = staged(volume, "ext4");
    driver.close();
    Path records = StateDirectory.Part.PENDING_FREEZES.in(scratch.state());
    Path record = Files.createFile(Files.createDirectories(records).resolve(volume.getVolumeId()));
    KernelMounts kernel = new KernelMounts();
    assertThat(kernel.freeze(source)).isTrue();
    try {
      startWith(
          new DurableFiles(),
          failing(MountCalls.class, kernel, (method, _) -> method.equals("thaw")));
      assertThat(record).exists();
      assertThat(kernel.freeze(source)).as("not frozen by this test").isFalse();

      restart();

      assertThat(record).doesNotExist();
      assertThat(kernel.freeze(source)).as("was thawed").isTrue();
    } finally {
      kernel.thaw(source);
    }
    delete(volume);
    scratch.assertNothingLeft();
  }

  /** Each number is written to the first file, durably, before it is written to the second one. */
  @ParameterizedTest
  @CsvSource({"ext4, 256", "xfs, 320"})
  void aCopyIsConsistentWhileTheVolumeIsWrittenTo(String type, long mib) throws Exception {
    Volume volume = csi.create("pvc", mib * MIB);
    Path source = staged(volume, type);
    AtomicBoolean stop = new AtomicBoolean();
    AtomicLong written = new AtomicLong();
    CompletableFuture<Void> writer;
    try (FileChannel first = FileChannel.open(source.resolve("first"), CREATE, WRITE);
        FileChannel second = FileChannel.open(source.resolve("second"), CREATE, WRITE)) {
      write(first, 0);
      // far from each other, so that they are copied at different times
      Files.write(source.resolve("between"), new byte[(int) (64 * MIB)], CREATE, WRITE, SYNC);
      write(second, 0);
      writer =
          CompletableFuture.runAsync(
              () -> {
                for (long number = 1; !stop.get(); number++) {
                  write(first, number);
                  write(second, number);
                  written.set(number);
                }
              });
      await().until(() -> written.get() > 10);
      Snapshot snapshot = csi.snapshot("snap", volume.getVolumeId());
      long after = written.get();
      await().until(() -> written.get() > after);
      stop.set(true);
      writer.join();

      Volume copy = csi.create(restored("copy", mib * MIB, snapshot));
      Path restored = staged(copy, type);
      long inFirst = number(restored.resolve("first"));
      assertThat(inFirst).isBetween(11L, after + 1);
      assertThat(number(restored.resolve("second"))).isBetween(inFirst - 1, inFirst);
      delete(copy);
      csi.deleteSnapshot(snapshot.getSnapshotId());
    } finally {
      stop.set(true);
    }
    delete(volume);
    scratch.assertNothingLeft();
  }

  private static void write(FileChannel file, long number) {
    try {
      file.write(ByteBuffer.allocate(Long.BYTES).putLong(number).flip(), 0);
      file.force(false);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long number(Path file) throws IOException {
    return ByteBuffer.wrap(Files.readAllBytes(file)).getLong();
  }

  private void startWith(StateFiles files, MountCalls mounts) {
    driver =
        FileModeDriver.start(
            scratch.directory(),
            new HostAccess(runner, files, mounts, new KernelLoops()),
            FileModeDriver.POOL);
    csi = new Calls(driver);
  }

  /** The same, with a failure of the calls that a predicate accepts by method and first path. */
  private static <T> T failing(Class<T> type, T real, BiPredicate<String, Path> fails) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              if (fails.test(method.getName(), (Path) arguments[0])) {
                throw new IOException("injected");
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }

  @Test
  void aCopyOfABlankVolumeIsBlank() throws IOException {
    Volume volume = csi.create("pvc", 16 * MIB);

    Volume copy = csi.create(cloned("copy", 16 * MIB, volume));

    assertThat(staged(copy, "ext4")).isDirectory();
    csi.delete(volume.getVolumeId());
    delete(copy);
  }
}
