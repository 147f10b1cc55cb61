package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.BlockDevices;
import io.pmemcsi.driver.linux.block.DeviceNumber;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares what the ledger says with the devices and mounts that are there.
 *
 * <p>Only what cannot cost anybody data is repaired: records of volumes that were never finished or
 * were deleted except for their record, notes and empty folders of mounts that are gone. Everything
 * else is reported.
 */
public final class Audit {

  private static final Logger LOG = LoggerFactory.getLogger(Audit.class);

  private final Ledger ledger;
  private final Devices devices;
  private final NodeState node;
  private final boolean repair;
  private final List<Finding> findings = new ArrayList<>();
  private final Set<VolumeId> unavailable = new HashSet<>();
  private final Set<VolumeId> beingMade = new HashSet<>();
  private final Map<DeviceMode, List<String>> hiddenParts = new EnumMap<>(DeviceMode.class);

  private Audit(Ledger ledger, Devices devices, NodeState node, boolean repair) {
    this.ledger = ledger;
    this.devices = devices;
    this.node = node;
    this.repair = repair;
  }

  /** Compares, and changes nothing. */
  public static AuditReport look(Ledger ledger, Devices devices, NodeState node) {
    return new Audit(ledger, devices, node, false).run();
  }

  /** Compares, and repairs what is safe to repair; for the start of the driver. */
  public static AuditReport repair(Ledger ledger, Devices devices, NodeState node) {
    return new Audit(ledger, devices, node, true).run();
  }

  private AuditReport run() {
    List<LedgerEntry> entries = List.copyOf(ledger.entries());
    // before the look at the devices: a tool that has ended by then has left one that is seen
    entries.stream()
        .filter(this::isCreating)
        .map(LedgerEntry::id)
        .filter(devices::isBeingMade)
        .forEach(beingMade::add);
    Map<VolumeId, Device> found = findDevices(entries);
    ledger.damaged().forEach((id, why) -> find(Kind.DAMAGED_RECORD, id, why, false));
    for (LedgerEntry entry : entries) {
      if (unavailable.contains(entry.id())) {
        continue;
      }
      check(entry, Optional.ofNullable(found.get(entry.id())));
    }
    found.values().stream().filter(device -> isUnknown(device.id())).forEach(this::foreign);
    for (VolumeId id : List.copyOf(ledger.withContents())) {
      if (ledger.find(id).isEmpty() && !found.containsKey(id) && ledger.damage(id).isEmpty()) {
        repaired(Kind.STALE_RECORD, id, "only a contents record is left");
      }
    }
    new LeftoverCheck(node, ledger, found.keySet(), repair).run(findings);
    return new AuditReport(entries.size(), found.size(), findings);
  }

  private void foreign(Device device) {
    List<MountEntry> mounted = mountsOf(device);
    find(
        Kind.DEVICE_WITHOUT_RECORD,
        device.id(),
        "device %s with %d bytes is not in the ledger%s"
            .formatted(
                device.path(),
                device.sizeBytes(),
                mounted.isEmpty() ? "" : ", it is mounted at " + mounted.getFirst().mountPoint()),
        false);
  }

  private boolean isUnknown(VolumeId id) {
    return ledger.find(id).isEmpty() && ledger.damage(id).isEmpty();
  }

  private Map<VolumeId, Device> findDevices(List<LedgerEntry> entries) {
    Map<VolumeId, Device> found = new HashMap<>();
    findIn(devices.current(), found);
    Map<DeviceMode, List<LedgerEntry>> volumes =
        entries.stream().collect(Collectors.groupingBy(devices::modeOf));
    for (DeviceMode mode : otherModes(volumes.keySet())) {
      try {
        findIn(devices.of(mode), found);
      } catch (RuntimeException e) {
        // the volumes of the mode that this driver runs in are not to suffer from it
        List<LedgerEntry> affected = volumes.getOrDefault(mode, List.of());
        affected.forEach(volume -> unavailable(volume, mode, e));
        if (affected.isEmpty()) {
          LOG.atDebug()
              .addKeyValue("mode", mode.text())
              .addKeyValue("error", e.getMessage())
              .log("No look for devices of this mode.");
        }
      }
    }
    return found;
  }

  /**
   * Those that volumes were made in. On a node with PMEM also the others: an earlier driver may
   * have left something there, and forgotten it.
   */
  private Set<DeviceMode> otherModes(Set<DeviceMode> used) {
    DeviceMode current = devices.current().mode();
    Set<DeviceMode> others =
        current == DeviceMode.FILE
            ? EnumSet.noneOf(DeviceMode.class)
            : EnumSet.allOf(DeviceMode.class);
    others.addAll(used);
    others.remove(current);
    return others;
  }

  private void findIn(DeviceManager manager, Map<VolumeId, Device> found) {
    for (Device device : manager.list()) {
      // whoever else has a namespace gives it a name, too; only in a group of ours all is ours
      boolean ours = manager.mode() != DeviceMode.DIRECT || device.id().isMadeFromName();
      if (ours || ledger.find(device.id()).isPresent()) {
        found.put(device.id(), device);
      }
    }
    for (VolumeId id : manager.halfMade()) {
      if (isUnknown(id) && id.isMadeFromName()) {
        find(
            Kind.DEVICE_WITHOUT_RECORD,
            id,
            "something of this name is half made or switched off, and is not in the ledger",
            false);
      }
    }
  }

  private void unavailable(LedgerEntry entry, DeviceMode mode, RuntimeException why) {
    unavailable.add(entry.id());
    find(
        Kind.MODE_UNAVAILABLE,
        entry.id(),
        "device mode %s cannot be used: %s".formatted(mode.text(), why.getMessage()),
        false);
  }

  private void check(LedgerEntry entry, Optional<Device> device) {
    Optional<VolumeState> contents = ledger.contents(entry.id());
    boolean creating = isCreating(entry);
    boolean deleting = contents.filter(c -> c instanceof VolumeState.Deleting).isPresent();
    if (device.isEmpty()) {
      if (beingMade.contains(entry.id())) {
        find(
            Kind.UNFINISHED_CREATE,
            entry.id(),
            "a tool is making its device, calling CreateVolume after that finishes it",
            false);
        return;
      }
      String hidden = hidden(entry);
      if ((creating || deleting) && hidden.isEmpty()) {
        repaired(
            Kind.STALE_RECORD,
            entry.id(),
            creating ? "its device was never made" : "its device is deleted");
      } else {
        find(
            Kind.RECORD_WITHOUT_DEVICE,
            entry.id(),
            "volume \"%s\" of %d bytes has no device%s"
                .formatted(entry.name(), entry.sizeBytes(), hidden),
            false);
      }
      return;
    }
    List<MountEntry> mounted = mountsOf(device.get());
    if (creating) {
      find(
          Kind.UNFINISHED_CREATE,
          entry.id(),
          "CreateVolume was interrupted, calling it again finishes it",
          false);
    } else if (deleting) {
      find(
          Kind.UNFINISHED_DELETE,
          entry.id(),
          "DeleteVolume was interrupted, calling it again finishes it",
          false);
    } else if (device.get().sizeBytes() < entry.sizeBytes()) {
      find(
          Kind.DEVICE_TOO_SMALL,
          entry.id(),
          "the ledger says %d bytes, the device has %d"
              .formatted(entry.sizeBytes(), device.get().sizeBytes()),
          false);
    }
    if (entry.parameters().ephemeral() && mounted.isEmpty()) {
      find(
          Kind.EPHEMERAL_NOT_PUBLISHED,
          entry.id(),
          "ephemeral volume \"%s\" is not mounted anywhere".formatted(entry.name()),
          false);
    }
    boolean blank = contents.filter(c -> c instanceof VolumeState.Blank).isPresent();
    if ((creating || deleting || blank) && !mounted.isEmpty()) {
      find(
          Kind.UNEXPECTED_MOUNT,
          entry.id(),
          "is mounted at %s by somebody else".formatted(mounted.getFirst().mountPoint()),
          false);
    }
  }

  private boolean isCreating(LedgerEntry entry) {
    return ledger.contents(entry.id()).filter(c -> c instanceof VolumeState.Creating).isPresent();
  }

  /** Where a device that is not found may be; empty when it can be nowhere. */
  private String hidden(LedgerEntry entry) {
    DeviceManager manager = devices.of(entry);
    if (manager.exists(entry.id())) {
      return " that is switched on";
    }
    // asked once for a look: on a busy node many volumes come and go meanwhile
    List<String> hidden = hiddenParts.computeIfAbsent(manager.mode(), _ -> manager.hidden());
    return hidden.isEmpty()
        ? ""
        : ", it may be in " + String.join(", ", hidden) + ", which cannot be looked into";
  }

  private List<MountEntry> mountsOf(Device device) {
    try {
      return BlockDevices.isBlockDevice(device.path())
          ? node.mounts().of(DeviceNumber.of(device.path()))
          : List.of();
    } catch (IOException e) {
      return List.of();
    }
  }

  private void repaired(Kind kind, VolumeId id, String text) {
    if (repair) {
      ledger.remove(id);
    }
    find(kind, id, text, repair);
  }

  private void find(Kind kind, VolumeId id, String text, boolean done) {
    findings.add(new Finding(kind, id, text, done));
  }
}
