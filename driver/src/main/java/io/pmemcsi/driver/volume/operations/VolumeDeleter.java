package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes volumes. The steps are: state "deleting", erase, device, ledger entry, state. Whichever
 * step a crash hits, the same call resumes from there.
 */
public final class VolumeDeleter {
  private static final Logger LOG = LoggerFactory.getLogger(VolumeDeleter.class);

  private final Volumes volumes;
  private final Ledger ledger;
  private final Devices devices;
  private final DeviceUsers users;
  private final InterruptedCreations interrupted;

  public VolumeDeleter(Volumes volumes, Ledger ledger, Devices devices, DeviceUsers users) {
    this.volumes = volumes;
    this.ledger = ledger;
    this.devices = devices;
    this.users = users;
    this.interrupted = new InterruptedCreations(devices, users);
  }

  /** Deletes the volume with this ID; one that does not exist was deleted before. */
  public void delete(String volumeId) {
    volumes.withVolume(
        volumeId,
        lookup -> {
          switch (lookup) {
            case Lookup.Known(VolumeRecord volume) -> delete(volume);
            case Lookup.Damaged damaged -> throw damaged.blocked();
            case Lookup.Unknown _ -> refuseNotOwned(volumeId);
          }
          return lookup;
        });
  }

  /** Deletes the snapshot with this ID; one that does not exist was deleted before. */
  public void deleteSnapshot(String snapshotId) {
    VolumeId.parse(snapshotId)
        .ifPresent(
            id ->
                volumes.withSnapshot(
                    id,
                    lookup -> {
                      switch (lookup) {
                        case Lookup.Known(VolumeRecord snapshot) -> delete(snapshot);
                        case Lookup.Damaged damaged -> throw damaged.blocked();
                        case Lookup.Unknown _ -> {}
                      }
                      return lookup;
                    }));
  }

  /** Deletes a volume whose lock the caller holds. */
  public void delete(VolumeRecord volume) {
    delete(volume, volume.parameters().eraseAfter());
  }

  /**
   * Deletes a volume that was never published, under the caller's lock. It is erased only if it is
   * a copy: the memory of others holds what it held before, and a new volume there hides that as
   * well as this one did.
   */
  public void discard(VolumeRecord volume) {
    delete(volume, volume.isErasedUnpublished());
  }

  private void delete(VolumeRecord volume, boolean erase) {
    DeviceManager manager = volumes.manager(volume);
    if (volume.state() instanceof VolumeState.Creating) {
      interrupted.requireNoCommand(volume, manager);
    }
    Optional<Device> device = manager.find(volume.id());
    if (device.isPresent()) {
      users.refuseInUse(device.get());
    } else {
      manager.remains(volume.id()).ifPresent(users::refuseInUse);
      refuseUnavailable(volume, manager);
    }
    ledger.beginDelete(volume);
    try {
      manager.delete(volume.id(), erase);
    } catch (DeviceException.InUse e) {
      // nothing was touched, so the recorded state still holds
      ledger.cancelDelete(volume);
      throw e;
    } finally {
      devices.measure();
    }
    ledger.remove(volume.id());
    LOG.atInfo().addKeyValue("volume", volume.id()).log("Volume deleted.");
  }

  /** Without its record, a device that becomes available again later would have no owner. */
  private static void refuseUnavailable(VolumeRecord volume, DeviceManager manager) {
    if (manager.exists(volume.id())) {
      return;
    }
    List<String> unavailable = manager.unavailablePools();
    if (!unavailable.isEmpty()) {
      throw new VolumeException.PreconditionFailed(
          "the device of volume %s is not found, it may be in %s, which is not readable: enable what is disabled, restart the driver if required, then delete the volume"
              .formatted(volume.id(), String.join(", ", unavailable)));
    }
  }

  private void refuseNotOwned(String volumeId) {
    VolumeId.parse(volumeId)
        .flatMap(ledger::find)
        .filter(VolumeRecord::isSnapshot)
        .ifPresent(
            snapshot -> {
              throw new VolumeException.PreconditionFailed(
                  "%s is a snapshot: delete it with DeleteSnapshot".formatted(snapshot.id()));
            });
    VolumeId.parse(volumeId)
        .filter(id -> devices.current().exists(id))
        .ifPresent(
            id -> {
              throw new VolumeException.PreconditionFailed(
                  "device %s is not in the ledger: this driver did not create it and does not delete it"
                      .formatted(id));
            });
  }
}
