package io.pmemcsi.driver.node;

import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.operations.Volumes;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How full a volume is, as its user sees it. */
public final class Statistics {

  private final Volumes volumes;
  private final DeviceUsers usages;
  private final KataVolumes kata;
  private final CommandRunner runner;

  public Statistics(Volumes volumes, DeviceUsers usages, KataVolumes kata, CommandRunner runner) {
    this.volumes = volumes;
    this.usages = usages;
    this.kata = kata;
    this.runner = runner;
  }

  /** Numbers of a filesystem, or of a device, which has no inodes and is always full. */
  public record Usage(
      long availableBytes, long totalBytes, long usedBytes, Optional<Inodes> inodes) {}

  /** Files that can still be made, and that can be made at all. */
  public record Inodes(long available, long total) {}

  /** Looks at a volume where it is staged or published. */
  public Usage of(String volumeId, Path path) {
    return volumes.withLock(
        volumeId,
        id -> {
          LedgerEntry entry = volumes.require(volumeId);
          Device device = volumes.usable(entry);
          List<MountEntry> all = new ArrayList<>(usages.mountsOf(device));
          if (entry.parameters().kataContainers()) {
            all.addAll(kata.publications(entry));
          }
          MountEntry mount =
              all.stream()
                  .filter(there -> there.mountPoint().equals(path))
                  .findFirst()
                  .orElseThrow(
                      () ->
                          CsiStatusException.notFound(
                              "volume %s is not mounted at volume_path %s".formatted(id, path)));
          boolean block = mount.type().endsWith("tmpfs");
          return block
              ? new Usage(0, device.sizeBytes(), device.sizeBytes(), Optional.empty())
              : measure(path);
        });
  }

  private Usage measure(Path path) {
    // Java tells bytes but no inodes
    String out =
        runner
            .run(Command.of("stat", "--file-system", "--format", "%S %b %f %a %c %d", "" + path))
            .stdout();
    return parse(out);
  }

  static Usage parse(String out) {
    String[] fields = out.strip().split(" ", -1);
    long block = Long.parseLong(fields[0]);
    return new Usage(
        Long.parseLong(fields[3]) * block,
        Long.parseLong(fields[1]) * block,
        (Long.parseLong(fields[1]) - Long.parseLong(fields[2])) * block,
        Optional.of(new Inodes(Long.parseLong(fields[5]), Long.parseLong(fields[4]))));
  }
}
