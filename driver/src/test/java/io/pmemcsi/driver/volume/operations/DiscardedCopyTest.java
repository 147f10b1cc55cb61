package io.pmemcsi.driver.volume.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.RecordedTools;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.mount.KernelMounts;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.state.DurableFiles;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.ParameterSource;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An unfinished copy may hold the data of its source. */
class DiscardedCopyTest {
  private static final VolumeId ID = VolumeId.fromName("copy");
  private static final VolumeId SOURCE = VolumeId.fromName("source");

  @TempDir Path directory;
  private final List<Boolean> erased = new ArrayList<>();
  private Ledger ledger;
  private VolumeDeleter deleter;

  @BeforeEach
  void openLedger() {
    ledger = Ledger.open(directory, new DurableFiles());
    DeviceManager manager =
        (DeviceManager)
            Proxy.newProxyInstance(
                DeviceManager.class.getClassLoader(),
                new Class<?>[] {DeviceManager.class},
                (_, method, arguments) ->
                    switch (method.getName()) {
                      case "mode" -> DeviceMode.LVM;
                      case "find", "remains" -> Optional.empty();
                      case "exists" -> false;
                      case "unavailablePools", "pools" -> List.of();
                      case "delete" -> {
                        erased.add((Boolean) arguments[1]);
                        yield null;
                      }
                      default -> null;
                    });
    Devices devices = new Devices(manager, _ -> manager, _ -> false);
    Mounts mounts = new Mounts(new RecordedTools(), new KernelMounts(), directory);
    deleter =
        new VolumeDeleter(
            new Volumes(ledger, devices, new VolumeLocks()),
            ledger,
            devices,
            new DeviceUsers(mounts));
  }

  private void discard(Origin origin, String eraseAfter) {
    VolumeRecord volume =
        new VolumeRecord(
            ID,
            4096,
            ParameterSource.STORAGE_CLASS
                .parse(Map.of("eraseAfter", eraseAfter))
                .named("copy", DeviceMode.LVM),
            new VolumeState.Creating(),
            origin);
    deleter.discard(ledger.add(volume));
  }

  @Test
  void onlyACopyIsErasedWithoutHavingBeenPublished() {
    discard(new Origin.SnapshotOf(SOURCE, Instant.EPOCH), "true");
    discard(new Origin.CopyOfVolume(SOURCE), "true");
    discard(new Origin.CopyOfVolume(SOURCE), "false");
    discard(new Origin.Blank(), "true");

    assertThat(erased).containsExactly(true, true, false, false);
  }
}
