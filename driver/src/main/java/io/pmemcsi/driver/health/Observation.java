package io.pmemcsi.driver.health;

import io.pmemcsi.driver.linux.mount.MountEntry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What the kernel shows of a volume at one moment.
 *
 * @param vanished the devices that should exist, for the volume or below it, and do not
 * @param badBlocks the sectors of the volume that cannot be read
 * @param mounts the mounts of its filesystem
 * @param unreadable the mount points where the filesystem fails each access
 */
public record Observation(
    List<String> vanished,
    List<SectorRange> badBlocks,
    List<MountEntry> mounts,
    List<Path> unreadable) {

  public Observation {
    vanished = List.copyOf(vanished);
    badBlocks = List.copyOf(badBlocks);
    mounts = List.copyOf(mounts);
    unreadable = List.copyOf(unreadable);
  }

  /** A volume whose device is not found. */
  public static Observation vanished(String device) {
    return new Observation(List.of(device), List.of(), List.of(), List.of());
  }

  /** What of this is a problem, the cause before its effects. */
  public List<Problem> problems() {
    List<Problem> problems = new ArrayList<>();
    if (!vanished.isEmpty()) {
      problems.add(
          new Problem(
              Problem.Kind.DEVICE_VANISHED,
              "%s has vanished: read the kernel log, check the memory with ndctl list -NRi, and restart the pods of the volume when the device is back"
                  .formatted(String.join(", ", vanished))));
    }
    if (!badBlocks.isEmpty()) {
      problems.add(new Problem(Problem.Kind.BAD_BLOCKS, badBlocksText()));
    }
    mounts.stream()
        .filter(Observation::becameReadOnly)
        .findFirst()
        .ifPresent(
            mount ->
                problems.add(
                    new Problem(
                        Problem.Kind.READ_ONLY_FILESYSTEM,
                        "the filesystem at %s became read-only, after an error or by an administrator: read the kernel log, stop the pods of the volume, check its device with fsck, and start them again"
                            .formatted(mount.mountPoint()))));
    if (!unreadable.isEmpty()) {
      problems.add(
          new Problem(
              Problem.Kind.SHUT_DOWN_FILESYSTEM,
              "the filesystem at %s fails each access, because it was shut down after an error: read the kernel log, stop the pods of the volume, check its device with fsck, and start them again"
                  .formatted(unreadable.getFirst())));
    }
    return List.copyOf(problems);
  }

  private String badBlocksText() {
    long bytes = badBlocks.stream().mapToLong(SectorRange::count).sum() * SectorRange.SECTOR_BYTES;
    long first =
        badBlocks.stream().mapToLong(SectorRange::first).min().orElse(0) * SectorRange.SECTOR_BYTES;
    return "%d bytes in %d places cannot be read, the first at byte %d of the volume: restore what was there from a backup; writing to bad blocks or ndctl clear-errors repairs them, ndctl list -NM shows them all"
        .formatted(bytes, badBlocks.size(), first);
  }

  /**
   * A mount that was to be writable, of a filesystem that is not. One that was mounted read-only
   * says so itself. Newer kernels leave {@code ro} away and show why.
   */
  private static boolean becameReadOnly(MountEntry mount) {
    return mount.superOptions().contains("emergency_ro")
        || (mount.superOptions().contains("ro") && !mount.options().contains("ro"));
  }
}
