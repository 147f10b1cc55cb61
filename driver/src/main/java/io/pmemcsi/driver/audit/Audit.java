package io.pmemcsi.driver.audit;

import io.pmemcsi.driver.audit.AuditReport.Finding;
import io.pmemcsi.driver.audit.AuditReport.Kind;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceMode;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.health.HealthProbe;
import io.pmemcsi.driver.health.Problem;
import io.pmemcsi.driver.linux.mount.MountEntry;
import io.pmemcsi.driver.state.StateFiles;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
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
 * Compares the ledger with the devices and mounts of the node.
 *
 * <p>Only what cannot cost data is repaired: records of volumes that were never finished or were
 * deleted except for their record, notes and empty directories of mounts that do not exist.
 * Everything else is reported.
 */
public final class Audit {
  private static final Logger LOG = LoggerFactory.getLogger(Audit.class);

  private final Ledger ledger;
  private final Devices devices;
  private final NodeState node;
  private final HealthProbe health;
  private final Optional<StateFiles> repair;
  private final List<Finding> findings = new ArrayList<>();
  private final Set<VolumeId> unavailable = new HashSet<>();
  private final Set<VolumeId> beingCreated = new HashSet<>();
  private final Map<DeviceMode, List<String>> unavailablePools = new EnumMap<>(DeviceMode.class);

  /**
   * @param repair through which leftovers are removed; empty if nothing is repaired
   */
  private Audit(
      Ledger ledger,
      Devices devices,
      NodeState node,
      HealthProbe health,
      Optional<StateFiles> repair) {
    this.ledger = ledger;
    this.devices = devices;
    this.node = node;
    this.health = health;
    this.repair = repair;
  }

  /** Compares, and changes nothing. */
  public static AuditReport compare(
      Ledger ledger, Devices devices, NodeState node, HealthProbe health) {
    return new Audit(ledger, devices, node, health, Optional.empty()).run();
  }

  /** Compares, and repairs what is safe to repair; for the start of the driver. */
  public static AuditReport repair(
      Ledger ledger, Devices devices, NodeState node, HealthProbe health, StateFiles files) {
    return new Audit(ledger, devices, node, health, Optional.of(files)).run();
  }

  private AuditReport run() {
    List<VolumeRecord> volumes = List.copyOf(ledger.records());
    // before the devices are listed: a command that has ended by then has left one that is listed
    volumes.stream()
        .filter(volume -> volume.state() instanceof VolumeState.Creating)
        .map(VolumeRecord::id)
        .filter(devices::isBeingCreated)
        .forEach(beingCreated::add);
    Map<VolumeId, Device> found = findDevices(volumes);
    ledger.damaged().forEach((id, why) -> report(Kind.DAMAGED_RECORD, id, why));
    for (VolumeRecord volume : volumes) {
      if (!unavailable.contains(volume.id())) {
        check(volume, Optional.ofNullable(found.get(volume.id())));
      }
    }
    found.values().stream()
        .filter(device -> !ledger.knows(device.id()))
        .forEach(this::reportWithoutRecord);
    for (VolumeId id : List.copyOf(ledger.orphanedStates())) {
      if (!found.containsKey(id)) {
        removeRecord(id, "only a contents record is left");
      }
    }
    new LeftoverCheck(node, ledger, found.keySet(), repair).run(findings);
    return new AuditReport(volumes.size(), found.size(), findings);
  }

  private void reportWithoutRecord(Device device) {
    List<MountEntry> mounted = mountsOf(device);
    report(
        Kind.DEVICE_WITHOUT_RECORD,
        device.id(),
        "device %s with %d bytes is not in the ledger%s"
            .formatted(
                device.path(),
                device.sizeBytes(),
                mounted.isEmpty() ? "" : ", it is mounted at " + mounted.getFirst().mountPoint()));
  }

  private Map<VolumeId, Device> findDevices(List<VolumeRecord> volumes) {
    Map<VolumeId, Device> found = new HashMap<>();
    findIn(devices.current(), found);
    Map<DeviceMode, List<VolumeRecord>> byMode =
        volumes.stream()
            .collect(
                Collectors.groupingBy(
                    volume -> volume.parameters().deviceMode().orElse(devices.current().mode())));
    for (DeviceMode mode : otherModes(byMode.keySet())) {
      try {
        findIn(devices.of(mode), found);
      } catch (RuntimeException e) {
        // the volumes of the mode that this driver runs in must not suffer from it
        List<VolumeRecord> affected = byMode.getOrDefault(mode, List.of());
        affected.forEach(volume -> reportUnavailable(volume, mode, e));
        if (affected.isEmpty()) {
          LOG.atDebug()
              .addKeyValue("mode", mode.text())
              .addKeyValue("error", e.getMessage())
              .log("Devices of this mode are not listed.");
        }
      }
    }
    return found;
  }

  /**
   * The modes that volumes were created in. On a node with PMEM also all others: an earlier driver
   * may have left devices there that no ledger knows.
   */
  private Set<DeviceMode> otherModes(Set<DeviceMode> used) {
    DeviceMode current = devices.current().mode();
    Set<DeviceMode> others =
        current.usesPmem() ? EnumSet.allOf(DeviceMode.class) : EnumSet.noneOf(DeviceMode.class);
    others.addAll(used);
    others.remove(current);
    return others;
  }

  private void findIn(DeviceManager manager, Map<VolumeId, Device> found) {
    for (Device device : manager.list()) {
      if (manager.isOwn(device.id()) || ledger.find(device.id()).isPresent()) {
        found.put(device.id(), device);
      }
    }
    for (VolumeId id : manager.incomplete()) {
      if (!ledger.knows(id) && manager.isOwn(id)) {
        report(
            Kind.DEVICE_WITHOUT_RECORD,
            id,
            "a device of this name is incomplete or disabled, and is not in the ledger");
      }
    }
  }

  private void reportUnavailable(VolumeRecord volume, DeviceMode mode, RuntimeException why) {
    unavailable.add(volume.id());
    report(
        Kind.MODE_UNAVAILABLE,
        volume.id(),
        "device mode %s cannot be used: %s".formatted(mode.text(), why.getMessage()));
  }

  private void check(VolumeRecord volume, Optional<Device> found) {
    if (found.isEmpty()) {
      checkWithoutDevice(volume);
      return;
    }
    Device device = found.get();
    List<MountEntry> mounted = mountsOf(device);
    boolean neverPublished =
        switch (volume.state()) {
          case VolumeState.Creating _ -> {
            report(
                Kind.UNFINISHED_CREATE,
                volume.id(),
                "CreateVolume was interrupted, calling it again finishes it");
            yield true;
          }
          case VolumeState.Deleting _ -> {
            report(
                Kind.UNFINISHED_DELETE,
                volume.id(),
                "DeleteVolume was interrupted, calling it again finishes it");
            yield true;
          }
          case VolumeState.Blank _ -> {
            checkSize(volume, device);
            yield true;
          }
          case VolumeState.Formatted _, VolumeState.RawBlock _, VolumeState.Legacy _ -> {
            checkSize(volume, device);
            yield false;
          }
        };
    // one that no pod has used since the node was started may have no device node
    if (volume.isComplete() && DeviceUsers.numberIfExists(device).isPresent()) {
      health
          .observe(device, mounted)
          .problems()
          .forEach(problem -> report(kind(problem), volume.id(), problem.text()));
    }
    if (volume.isEphemeral() && mounted.isEmpty()) {
      report(
          Kind.EPHEMERAL_NOT_PUBLISHED,
          volume.id(),
          "ephemeral volume \"%s\" is not mounted anywhere".formatted(volume.name()));
    }
    if (neverPublished && !mounted.isEmpty()) {
      report(
          Kind.UNEXPECTED_MOUNT,
          volume.id(),
          "is mounted at %s by another program".formatted(mounted.getFirst().mountPoint()));
    }
  }

  private static Kind kind(Problem problem) {
    return switch (problem.kind()) {
      case DEVICE_VANISHED -> Kind.DEVICE_VANISHED;
      case BAD_BLOCKS -> Kind.BAD_BLOCKS;
      case READ_ONLY_FILESYSTEM -> Kind.READ_ONLY_FILESYSTEM;
      case SHUT_DOWN_FILESYSTEM -> Kind.SHUT_DOWN_FILESYSTEM;
    };
  }

  private void checkSize(VolumeRecord volume, Device device) {
    if (device.sizeBytes() < volume.sizeBytes()) {
      report(
          Kind.DEVICE_TOO_SMALL,
          volume.id(),
          "the ledger says %d bytes, the device has %d"
              .formatted(volume.sizeBytes(), device.sizeBytes()));
    }
  }

  private void checkWithoutDevice(VolumeRecord volume) {
    if (beingCreated.contains(volume.id())) {
      report(
          Kind.UNFINISHED_CREATE,
          volume.id(),
          "a command is creating its device, calling CreateVolume after that finishes it");
      return;
    }
    String location = possibleLocation(volume);
    if (location.isEmpty() && volume.state() instanceof VolumeState.Creating) {
      removeRecord(volume.id(), "its device was never created");
    } else if (location.isEmpty() && volume.state() instanceof VolumeState.Deleting) {
      removeRecord(volume.id(), "its device is deleted");
    } else {
      report(
          Kind.RECORD_WITHOUT_DEVICE,
          volume.id(),
          "volume \"%s\" of %d bytes has no device%s"
              .formatted(volume.name(), volume.sizeBytes(), location));
    }
  }

  /** Where a device that is not found may be; empty when it can be nowhere. */
  private String possibleLocation(VolumeRecord volume) {
    DeviceManager manager = devices.of(volume.parameters().deviceMode());
    if (manager.exists(volume.id())) {
      return " that is enabled";
    }
    // once per audit: on a busy node many volumes come and go while it runs
    List<String> pools =
        unavailablePools.computeIfAbsent(manager.mode(), _ -> manager.unavailablePools());
    return pools.isEmpty()
        ? ""
        : ", it may be in " + String.join(", ", pools) + ", which is not readable";
  }

  private List<MountEntry> mountsOf(Device device) {
    return DeviceUsers.numberIfExists(device)
        .map(number -> node.mounts().of(number))
        .orElse(List.of());
  }

  private void removeRecord(VolumeId id, String text) {
    if (repair.isPresent()) {
      ledger.remove(id);
    }
    findings.add(new Finding(Kind.STALE_RECORD, id, text, repair.isPresent()));
  }

  private void report(Kind kind, VolumeId id, String text) {
    findings.add(new Finding(kind, id, text, false));
  }
}
