package io.pmemcsi.driver.health;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import io.pmemcsi.driver.linux.mount.MountEntry;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Observes the health of volumes in sysfs, where ndctl reads it as well. A command runs only for a
 * logical volume on memory with bad blocks.
 */
public final class HealthProbe {
  private static final Logger LOG = LoggerFactory.getLogger(HealthProbe.class);

  private final Path sysfs;
  private final CommandRunner runner;

  public HealthProbe(CommandRunner runner) {
    this(runner, Path.of("/sys"));
  }

  /** The same for a tree of attributes elsewhere. */
  HealthProbe(CommandRunner runner, Path sysfs) {
    this.runner = runner;
    this.sysfs = sysfs;
  }

  /**
   * Observes a volume.
   *
   * @param mounts the mounts of its device that are known
   */
  public Observation observe(Device device, List<MountEntry> mounts) {
    return DeviceUsers.numberIfExists(device)
        .map(number -> observe(device.path(), number, mounts))
        .orElseGet(() -> Observation.vanished(device.path().toString()));
  }

  Observation observe(Path path, DeviceNumber number, List<MountEntry> mounts) {
    List<String> vanished = new ArrayList<>();
    List<Path> below = below(number);
    if (!Files.exists(attributes(number))) {
      vanished.add(path.toString());
    } else if (isMapped(number) && below.isEmpty()) {
      vanished.add("the memory below " + path);
    }
    below.stream()
        .filter(link -> !Files.exists(link))
        .forEach(link -> vanished.add("/dev/" + link.getFileName()));
    return new Observation(
        vanished,
        badBlocks(number, below),
        mounts,
        mounts.stream()
            .filter(mount -> mount.number().equals(number) && isUnreadable(mount))
            .map(MountEntry::mountPoint)
            .toList());
  }

  private List<SectorRange> badBlocks(DeviceNumber number, List<Path> below) {
    List<SectorRange> own = new ArrayList<>(ofDisk(attributes(number)));
    for (Path link : below) {
      List<SectorRange> there = ofDisk(link);
      if (!there.isEmpty()) {
        text(link.resolve("dev"))
            .map(DeviceNumber::parse)
            .ifPresent(device -> own.addAll(table(number).locate(device, there)));
      }
    }
    return own;
  }

  private List<SectorRange> ofDisk(Path disk) {
    List<SectorRange> shown = ranges(disk.resolve("badblocks"));
    return shown.isEmpty() ? ofNamespace(disk.resolve("device")) : shown;
  }

  /**
   * The disk of a namespace with atomic sectors does not show its bad blocks, the region does. It
   * maps sectors, so that their places on the disk are unknown: those in the namespace are counted.
   */
  private List<SectorRange> ofNamespace(Path link) {
    try {
      Path btt = link.toRealPath();
      Path region = btt.getParent();
      if (region == null || !String.valueOf(btt.getFileName()).startsWith("btt")) {
        return List.of();
      }
      Path namespace = region.resolve(text(btt.resolve("namespace")).orElse("none"));
      long start = number(namespace, "resource") - number(region, "resource");
      SectorRange all =
          new SectorRange(
              start / SectorRange.SECTOR_BYTES,
              number(namespace, "size") / SectorRange.SECTOR_BYTES);
      return ranges(region.resolve("badblocks")).stream()
          .flatMap(range -> range.within(all).stream())
          .map(range -> range.movedBy(-all.first()))
          .toList();
    } catch (IOException | IllegalArgumentException e) {
      return List.of(); // not a namespace, or it is being removed
    }
  }

  private DeviceMapperTable table(DeviceNumber number) {
    try {
      return DeviceMapperTable.parse(
          runner
              .run(
                  Command.of(
                      "dmsetup", "table", "--major=" + number.major(), "--minor=" + number.minor()))
              .stdout());
    } catch (ToolFailedException e) {
      LOG.atWarn()
          .addKeyValue("device", number)
          .addKeyValue("error", e.getMessage())
          .log("It is not known whether bad blocks of the memory are in this volume.");
      return new DeviceMapperTable(List.of());
    }
  }

  /**
   * The devices that a logical volume is made of, as links, which lead nowhere once one was
   * removed.
   */
  private List<Path> below(DeviceNumber number) {
    try (Stream<Path> all = Files.list(attributes(number).resolve("slaves"))) {
      return all.sorted().toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private boolean isMapped(DeviceNumber number) {
    return Files.isDirectory(attributes(number).resolve("dm"));
  }

  private Path attributes(DeviceNumber number) {
    return sysfs.resolve("dev/block").resolve(number.toString());
  }

  /** A filesystem that was shut down fails even the list of its files. */
  private static boolean isUnreadable(MountEntry mount) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(mount.mountPoint())) {
      boolean _ = files.iterator().hasNext();
      return false;
    } catch (NoSuchFileException | AccessDeniedException e) {
      return false; // unmounted since, or a rule of the node that says nothing about its health
    } catch (IOException | DirectoryIteratorException e) {
      return true;
    }
  }

  private static List<SectorRange> ranges(Path attribute) {
    try {
      return text(attribute).map(SectorRange::parse).orElse(List.of());
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      LOG.atWarn().addKeyValue("file", attribute).log("Bad blocks in an unknown form.");
      return List.of();
    }
  }

  private static long number(Path directory, String attribute) {
    return text(directory.resolve(attribute))
        .map(Long::decode)
        .orElseThrow(() -> new IllegalArgumentException(directory + " has no " + attribute));
  }

  private static Optional<String> text(Path attribute) {
    try {
      return Optional.of(Files.readString(attribute).strip());
    } catch (IOException e) {
      return Optional.empty(); // a kind of device that has none
    }
  }
}
