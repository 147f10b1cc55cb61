package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.libc.FileSpace;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How full a volume is, as its user sees it. */
public final class Statistics {
  private final Volumes volumes;
  private final DeviceUsers users;
  private final KataVolumes kata;

  public Statistics(Volumes volumes, DeviceUsers users, KataVolumes kata) {
    this.volumes = volumes;
    this.users = users;
    this.kata = kata;
  }

  /** Numbers of a filesystem, or of a device, which has no inodes. */
  public record Usage(
      long availableBytes, long totalBytes, long usedBytes, Optional<Inodes> inodes) {}

  /** Files that can still be created, and that can be created at all. */
  public record Inodes(long available, long total) {}

  /** Measures a volume where it is staged or published. */
  public Usage of(String volumeId, Path path) {
    return volumes.withVolume(volumeId, lookup -> of(lookup.require(), path));
  }

  private Usage of(VolumeRecord volume, Path path) {
    Device device = volumes.usableDevice(volume);
    List<MountEntry> all = new ArrayList<>(users.mountsOf(device));
    if (volume.parameters().kataContainers()) {
      all.addAll(kata.publications(volume));
    }
    MountEntry mount =
        all.stream()
            .filter(there -> there.mountPoint().equals(path))
            .findFirst()
            .orElseThrow(
                () ->
                    new VolumeException.NotFound(
                        "volume %s is not mounted at volume_path %s".formatted(volume.id(), path)));
    boolean block = mount.type().endsWith("tmpfs");
    return block
        ? new Usage(0, device.sizeBytes(), device.sizeBytes(), Optional.empty())
        : measure(path);
  }

  private static Usage measure(Path path) {
    try {
      FileSpace.Filesystem space = FileSpace.of(path);
      return new Usage(
          space.availableBytes(),
          space.totalBytes(),
          space.totalBytes() - space.freeBytes(),
          Optional.of(new Inodes(space.freeInodes(), space.inodes())));
    } catch (IOException e) {
      throw new DeviceException.ToolFailed("measure " + path, e);
    }
  }
}
