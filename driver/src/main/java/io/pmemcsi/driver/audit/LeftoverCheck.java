package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.loop.LoopDevices;
import io.pmemcsi.driver.node.kata.ImageFiles;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.store.Ledger;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The part of an audit that finds mounts, loop devices and notes that no volume needs. */
final class LeftoverCheck {

  private final NodeState node;
  private final Ledger ledger;
  private final Set<VolumeId> devices;
  private final Optional<StateFiles> repair;

  /**
   * @param devices the volumes that there is a device for
   * @param repair through which leftovers are removed; empty if nothing is repaired
   */
  LeftoverCheck(NodeState node, Ledger ledger, Set<VolumeId> devices, Optional<StateFiles> repair) {
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
    node.leftovers().forEach(leftover -> findings.add(file(leftover)));
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
            "the record of a pending mount at %s, where nothing is mounted".formatted(target),
            isRemoved(note)));
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
              isRemoved(directory)));
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
    String name = LoopDevices.withoutDeleted(name(file));
    boolean image = name.equals(ImageFiles.NAME) || name.equals(ImageFiles.TEMPORARY);
    Optional<VolumeId> id =
        VolumeId.parse(
            image
                ? file.getName(file.getNameCount() - 2).toString()
                : name.replaceFirst("\\.img.*", ""));
    if (id.isEmpty()) {
      return Optional.empty();
    }
    boolean known = ledger.find(id.get()).isPresent();
    boolean needed = image ? known && isMounted(device) : known || devices.contains(id.get());
    return needed
        ? Optional.empty()
        : Optional.of(
            new Finding(
                Kind.LEFTOVER_LOOP,
                id.get(),
                "%s is attached to %s, which no volume needs: %slosetup -d takes it away"
                    .formatted(device, file, image && known ? "NodeUnpublishVolume or " : ""),
                false));
  }

  private Finding file(NodeState.Leftover leftover) {
    return new Finding(
        Kind.LEFTOVER_FILE,
        escaped(leftover.name()),
        leftover.temporary()
            ? "was not written to its end"
            : "is not a file of this driver: remove it if it is not needed",
        leftover.temporary() && isRemoved(leftover.file()));
  }

  /** File names may have any character, and a finding is one line. */
  private static String escaped(String name) {
    return name.codePoints()
        .mapToObj(
            c ->
                Character.isISOControl(c)
                    ? "\\u%04x".formatted(c)
                    : new String(Character.toChars(c)))
        .collect(Collectors.joining());
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
  private boolean isRemoved(Path path) {
    if (repair.isEmpty()) {
      return false;
    }
    try {
      repair.get().delete(path);
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
