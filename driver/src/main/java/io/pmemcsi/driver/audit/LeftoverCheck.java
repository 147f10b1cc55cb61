package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The part of an audit that finds mounts, loop devices and notes that no volume needs. */
final class LeftoverCheck {

  private final NodeState node;
  private final Ledger ledger;
  private final Set<VolumeId> devices;
  private final boolean repair;

  /**
   * @param devices the volumes that there is a device for
   */
  LeftoverCheck(NodeState node, Ledger ledger, Set<VolumeId> devices, boolean repair) {
    this.node = node;
    this.ledger = ledger;
    this.devices = devices;
    this.repair = repair;
  }

  void run(List<Finding> findings) {
    for (Map.Entry<Path, Path> note : node.notes().entrySet()) {
      note(note.getKey(), note.getValue()).ifPresent(findings::add);
    }
    for (Path directory : node.kataDirectories()) {
      kata(directory).ifPresent(findings::add);
    }
    for (Map.Entry<Path, Path> loop : node.loops().entrySet()) {
      loop(loop.getKey(), loop.getValue()).ifPresent(findings::add);
    }
  }

  private Optional<Finding> note(Path note, Path target) {
    Optional<VolumeId> id = VolumeId.parse(name(note));
    if (id.isEmpty() || node.mounts().at(target).isPresent()) {
      return Optional.empty();
    }
    return Optional.of(
        new Finding(
            Kind.STALE_RECORD,
            id.get(),
            "a note about a pending mount at %s, where nothing is mounted".formatted(target),
            repair && isRemoved(note)));
  }

  private Optional<Finding> kata(Path directory) {
    Optional<VolumeId> id = VolumeId.parse(name(directory));
    if (id.isEmpty()) {
      return Optional.empty();
    }
    if (node.mounts().at(directory).isEmpty()) {
      return Optional.of(
          new Finding(
              Kind.LEFTOVER_MOUNT,
              id.get(),
              "%s is the directory of a mount that does not exist".formatted(directory),
              repair && isRemoved(directory)));
    }
    boolean shown = node.loops().containsValue(directory.resolve(ImageFiles.NAME));
    if (ledger.find(id.get()).isPresent() && shown) {
      return Optional.empty();
    }
    return Optional.of(
        new Finding(
            Kind.LEFTOVER_MOUNT,
            id.get(),
            "is mounted at %s although no pod can use it there: NodeUnpublishVolume or umount"
                    .formatted(directory)
                + " takes it away",
            false));
  }

  private Optional<Finding> loop(Path device, Path file) {
    boolean image = name(file).equals(ImageFiles.NAME);
    Optional<VolumeId> id =
        VolumeId.parse(
            image
                ? file.getName(file.getNameCount() - 2).toString()
                : name(file).replaceFirst("\\.img.*", ""));
    if (id.isEmpty()) {
      return Optional.empty();
    }
    boolean needed =
        image
            ? ledger.find(id.get()).isPresent() && isMounted(device)
            : devices.contains(id.get()) || ledger.find(id.get()).isPresent();
    return needed
        ? Optional.empty()
        : Optional.of(
            new Finding(
                Kind.LEFTOVER_LOOP,
                id.get(),
                "%s is attached to %s, which no volume needs: losetup -d takes it away"
                    .formatted(device, file),
                false));
  }

  private boolean isMounted(Path device) {
    try {
      return !node.mounts().of(DeviceNumber.of(device)).isEmpty();
    } catch (IOException e) {
      // removed at this moment
      return true;
    }
  }

  /** Removes a note or an empty directory, never anything that has content. */
  private static boolean isRemoved(Path path) {
    try {
      Files.deleteIfExists(path);
      return true;
    } catch (IOException e) {
      // it is reported as it is
      return false;
    }
  }

  private static String name(Path path) {
    return String.valueOf(path.getFileName());
  }
}
