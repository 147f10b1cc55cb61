package io.pmemcsi.driver.volume.operations;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.device.AccessModel;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VolumesTest {

  private static final CommandRunner NO_TOOLS =
      command -> {
        throw new AssertionError("no tool is needed: " + command);
      };

  @TempDir private Path directory;

  /** Devices that are plain files. */
  private final class PlainFiles implements DeviceManager {

    private final Set<VolumeId> there = ConcurrentHashMap.newKeySet();

    @Override
    public DeviceMode mode() {
      return DeviceMode.FILE;
    }

    @Override
    public Capacity capacity() {
      return new Capacity(0, 0, 0, 0);
    }

    @Override
    public List<Device> list() {
      return List.of();
    }

    @Override
    public boolean exists(VolumeId id) {
      return there.contains(id);
    }

    @Override
    public List<String> unavailablePools() {
      return List.of();
    }

    @Override
    public Optional<Device> find(VolumeId id) {
      return Optional.empty();
    }

    @Override
    public Device create(
        VolumeId id, long sizeBytes, AccessModel accessModel, OptionalInt numaNode) {
      there.add(id);
      try {
        return new Device(id, Files.createFile(directory.resolve("device")), sizeBytes);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void delete(VolumeId id, boolean erase) {
      there.remove(id);
    }

    @Override
    public long roundedSize(VolumeId id, long sizeBytes) {
      return sizeBytes;
    }

    @Override
    public Device expand(VolumeId id, long sizeBytes) {
      throw new AssertionError("nothing is expanded");
    }
  }

  /** Blocks the first write. */
  private static final class SlowFiles implements StateFiles {

    private final StateFiles real = new DurableFiles();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    @Override
    public List<String> list(Path where) throws IOException {
      return real.list(where);
    }

    @Override
    public byte[] read(Path file) throws IOException {
      return real.read(file);
    }

    @Override
    public void write(Path file, byte[] content) throws IOException {
      begun.countDown();
      try {
        assertThat(released.await(120, SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
      real.write(file, content);
    }

    @Override
    public void delete(Path file) throws IOException {
      real.delete(file);
    }
  }

  @Test
  void aVolumeIsNotDeletedDuringItsCreationEvenIfItIsNotInTheLedgerYet() throws Exception {
    SlowFiles files = new SlowFiles();
    PlainFiles manager = new PlainFiles();
    Ledger ledger = Ledger.open(directory.resolve("state"), files);
    VolumeLocks locks = new VolumeLocks();
    Devices devices = new Devices(manager, _ -> manager);
    Volumes volumes = new Volumes(ledger, devices, locks);
    DeviceUsers users =
        new DeviceUsers(new Mounts(NO_TOOLS, new KernelMounts(), Path.of("/nowhere")));
    VolumeCreator creator =
        new VolumeCreator(volumes, ledger, devices, users, new Signatures(NO_TOOLS));
    VolumeDeleter deleter = new VolumeDeleter(volumes, ledger, devices, users);
    Thread creation =
        Thread.ofPlatform()
            .start(
                () -> creator.create("pvc-1", new SizeRange(4096, 0), VolumeParameters.DEFAULTS));
    assertThat(files.begun.await(120, SECONDS)).isTrue();

    Thread deletion =
        Thread.ofPlatform().start(() -> deleter.delete(VolumeId.fromName("pvc-1").value()));
    await()
        .until(
            () ->
                Set.of(Thread.State.WAITING, Thread.State.TERMINATED)
                    .contains(deletion.getState()));
    files.released.countDown();
    creation.join();
    deletion.join();

    // a deletion that did not wait would find nothing to delete
    assertThat(ledger.records()).isEmpty();
    assertThat(manager.there).isEmpty();
    assertThat(locks.size()).isZero();
  }
}
