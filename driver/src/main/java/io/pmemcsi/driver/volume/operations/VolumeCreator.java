package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates volumes.
 *
 * <p>The steps are: state "creating", ledger entry, device, wipe, real size, state "blank".
 * Whichever step a crash hits, the same call resumes from there.
 */
public final class VolumeCreator {
  private static final Logger LOG = LoggerFactory.getLogger(VolumeCreator.class);

  private final Volumes volumes;
  private final Ledger ledger;
  private final Devices devices;
  private final Signatures signatures;
  private final InterruptedCreations interrupted;

  public VolumeCreator(Volumes volumes, Ledger ledger, Devices devices, Signatures signatures) {
    this.volumes = volumes;
    this.ledger = ledger;
    this.devices = devices;
    this.signatures = signatures;
    this.interrupted = new InterruptedCreations(devices);
  }

  /** Creates a volume, or returns the one that the same call has created before. */
  public VolumeRecord create(String name, SizeRange size, VolumeParameters parameters) {
    return volumes.withName(
        name,
        lookup ->
            switch (lookup) {
              case Lookup.Known(VolumeRecord volume) -> existing(volume, name, size, parameters);
              case Lookup.Damaged damaged -> throw damaged.blocked();
              case Lookup.Unknown(VolumeId id, String _) -> add(id, name, size, parameters);
            });
  }

  private VolumeRecord add(VolumeId id, String name, SizeRange size, VolumeParameters parameters) {
    DeviceManager manager = devices.current();
    if (manager.exists(id)) {
      throw new VolumeException.Failed(
          "a device for volume %s exists that is not in the ledger: it is not touched, remove it by hand if it is not needed"
              .formatted(id));
    }
    VolumeRecord volume =
        new VolumeRecord(
            id,
            size.requiredBytes(),
            parameters.named(name, manager.mode()),
            new VolumeState.Creating());
    try {
      ledger.add(volume);
    } catch (StateException e) {
      ledger.remove(id);
      throw e;
    }
    return finish(volume, size, false);
  }

  private VolumeRecord existing(
      VolumeRecord volume, String name, SizeRange size, VolumeParameters parameters) {
    if (!volume.name().equals(name)) {
      throw new VolumeException.Failed(
          "volume %s has the name \"%s\", not \"%s\"".formatted(volume.id(), volume.name(), name));
    }
    if (!volume.parameters().isCompatibleWith(parameters)) {
      throw new VolumeException.Incompatible(
          "volume \"%s\" exists with other parameters: %s"
              .formatted(name, volume.parameters().toContext()));
    }
    return switch (volume.state()) {
      case VolumeState.Deleting _ ->
          throw new VolumeException.Unfinished(
              "volume \"%s\" is still being deleted, call DeleteVolume again first"
                  .formatted(name));
      case VolumeState.Creating _ -> {
        interrupted.requireNoCommand(volume, volumes.manager(volume));
        yield finish(volume, size, true);
      }
      case VolumeState.Blank _,
          VolumeState.Formatted _,
          VolumeState.RawBlock _,
          VolumeState.Legacy _ -> {
        if (!size.includes(volume.sizeBytes())) {
          throw new VolumeException.Incompatible(
              "volume \"%s\" exists with %d bytes, requested: %s"
                  .formatted(name, volume.sizeBytes(), size));
        }
        yield volume;
      }
    };
  }

  /**
   * Creates the device and records that it is ready.
   *
   * @param resumed whether an earlier call began, which may have left a running command
   */
  private VolumeRecord finish(VolumeRecord volume, SizeRange size, boolean resumed) {
    try {
      Device device = createDevice(volume, size);
      // signatures of an earlier volume in the same memory
      signatures.wipe(device.path());
      VolumeRecord sized = ledger.resize(volume, device.sizeBytes());
      VolumeRecord finished = ledger.setState(sized, VolumeState.Blank.wiped());
      LOG.atInfo()
          .addKeyValue("volume", finished.id())
          .addKeyValue("name", finished.name())
          .addKeyValue("size", finished.sizeBytes())
          .log("Volume created.");
      return finished;
    } catch (DeviceException.Exists e) {
      if (resumed) {
        // the command of the earlier call has ended since the check: the driver owns the device
        throw new VolumeException.Unfinished(
            "an interrupted call has only now created the device of volume \"%s\", call CreateVolume again"
                .formatted(volume.name()));
      }
      // created by another program between check and command: the driver does not own it
      ledger.remove(volume.id());
      throw e;
    } catch (RuntimeException e) {
      rollBack(volume, e);
      throw e;
    } finally {
      devices.measure();
    }
  }

  private Device createDevice(VolumeRecord volume, SizeRange size) {
    DeviceManager manager = volumes.manager(volume);
    Optional<Device> found = manager.find(volume.id());
    if (found.isPresent() && !size.includes(found.get().sizeBytes())) {
      // left by a call that was killed; it was never published
      manager.delete(volume.id(), false);
      found = Optional.empty();
    }
    Device device =
        found.orElseGet(
            () ->
                manager.create(
                    volume.id(), size.requiredBytes(), volume.parameters().accessModel()));
    if (size.isExceededBy(device.sizeBytes())) {
      throw new VolumeException.SizeOutOfRange(
          "the smallest possible volume has %d bytes, more than limit_bytes %d"
              .formatted(device.sizeBytes(), size.limitBytes()));
    }
    return device;
  }

  /** Undoes a failed creation; what cannot be undone stays recorded, for a retry. */
  private void rollBack(VolumeRecord volume, RuntimeException reason) {
    try {
      Cancellation.uncancellable(
          () -> {
            interrupted.refuseRunning(volume); // a command that could not be killed goes on
            volumes.manager(volume).delete(volume.id(), false);
            ledger.remove(volume.id());
          });
    } catch (RuntimeException e) {
      LOG.atWarn()
          .addKeyValue("volume", volume.id())
          .addKeyValue("error", e.getMessage())
          .log("A failed creation could not be undone, it stays in the ledger.");
      // with most other codes the provisioner assumes that nothing is left, and does not retry
      throw new VolumeException.Unfinished(
          "%s; this could not be undone: %s. Call again"
              .formatted(reason.getMessage(), e.getMessage()));
    }
  }
}
