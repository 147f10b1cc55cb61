package io.pmemcsi.driver.node;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.health.HealthProbe;
import io.pmemcsi.driver.health.Observation;
import io.pmemcsi.driver.health.Problem;
import io.pmemcsi.driver.linux.libc.FileSpace;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.linux.mount.Mounts;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.operations.Volumes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How full a volume is, as its user sees it, and what is wrong with it. */
public final class Statistics {
  private final Volumes volumes;
  private final DeviceUsers users;
  private final Mounts mounts;
  private final KataVolumes kata;
  private final HealthProbe health;

  public Statistics(
      Volumes volumes, DeviceUsers users, Mounts mounts, KataVolumes kata, HealthProbe health) {
    this.volumes = volumes;
    this.users = users;
    this.mounts = mounts;
    this.kata = kata;
    this.health = health;
  }

  /** Numbers of a filesystem, or of a device, which has no inodes. */
  public record Usage(
      long availableBytes, long totalBytes, long usedBytes, Optional<Inodes> inodes) {}

  /** Files that can still be created, and that can be created at all. */
  public record Inodes(long available, long total) {}

  /** How a volume is; usage is reported for an abnormal one, too, because kubelet needs it. */
  public record Report(Usage usage, List<Problem> problems) {
    public Report {
      problems = List.copyOf(problems);
    }
  }

  /** Measures a volume where it is staged or published. */
  public Report of(String volumeId, Path path) {
    return volumes.withVolume(volumeId, lookup -> of(lookup.require(), path));
  }

  private Report of(VolumeRecord volume, Path path) {
    volumes.requireUsable(volume);
    Optional<MountEntry> there = mounts.table().at(path);
    Optional<Device> device =
        volumes.device(volume).filter(found -> DeviceUsers.numberIfExists(found).isPresent());
    if (device.isEmpty()) {
      return there
          .map(_ -> vanished(volume, path, "its device"))
          .orElseThrow(() -> notMounted(volume, path));
    }
    List<MountEntry> own = users.mountsOf(device.get());
    List<MountEntry> all = new ArrayList<>(own);
    if (volume.parameters().kataContainers()) {
      all.addAll(kata.publications(volume));
    }
    return all.stream()
        .filter(mount -> mount.mountPoint().equals(path))
        .findFirst()
        .map(mount -> report(device.get(), mount, own))
        // a device that came back has another number than the one that is still mounted
        .or(
            () ->
                there
                    .filter(mount -> mount.number().hasVanished())
                    .map(_ -> vanished(volume, path, "the device that is mounted at " + path)))
        .orElseThrow(() -> notMounted(volume, path));
  }

  private Report report(Device device, MountEntry mount, List<MountEntry> own) {
    List<Problem> problems = health.observe(device, own).problems();
    boolean block = mount.type().endsWith("tmpfs");
    return new Report(
        block
            ? unknown(device.sizeBytes())
            : measure(mount.mountPoint(), device.sizeBytes(), problems),
        problems);
  }

  private static Report vanished(VolumeRecord volume, Path path, String what) {
    List<Problem> problems = Observation.vanished(what).problems();
    return new Report(measure(path, volume.sizeBytes(), problems), problems);
  }

  private static VolumeException notMounted(VolumeRecord volume, Path path) {
    return new VolumeException.NotFound(
        "volume %s is not mounted at volume_path %s".formatted(volume.id(), path));
  }

  /** What its user has written is unknown: "full" would set off alerts. */
  private static Usage unknown(long bytes) {
    return new Usage(bytes, bytes, 0, Optional.empty());
  }

  private static Usage measure(Path path, long sizeBytes, List<Problem> problems) {
    try {
      FileSpace.Filesystem space = FileSpace.of(path);
      return new Usage(
          space.availableBytes(),
          space.totalBytes(),
          space.totalBytes() - space.freeBytes(),
          Optional.of(new Inodes(space.freeInodes(), space.inodes())));
    } catch (IOException e) {
      if (problems.isEmpty()) {
        throw new DeviceException.ToolFailed("measure " + path, e);
      }
      return unknown(sizeBytes);
    }
  }
}
