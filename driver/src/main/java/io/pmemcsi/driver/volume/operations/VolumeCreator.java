package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.Pool;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.util.Optional;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates volumes.
 *
 * <p>The steps are: state "creating", ledger entry, device, content (a wipe, or a copy), real size,
 * final state. Whichever step a crash hits, the same call resumes from there; a copy begins again,
 * because its source may have changed.
 */
public final class VolumeCreator {
  private static final Logger LOG = LoggerFactory.getLogger(VolumeCreator.class);

  private final Volumes volumes;
  private final Ledger ledger;
  private final Devices devices;
  private final Signatures signatures;
  private final InterruptedCreations interrupted;

  public VolumeCreator(
      Volumes volumes, Ledger ledger, Devices devices, DeviceUsers users, Signatures signatures) {
    this.volumes = volumes;
    this.ledger = ledger;
    this.devices = devices;
    this.signatures = signatures;
    this.interrupted = new InterruptedCreations(devices, users);
  }

  /** A volume or snapshot to create. */
  record Request(String name, SizeRange size, VolumeParameters parameters, Origin origin) {}

  /** Puts the content of a volume or snapshot on its new device. */
  @FunctionalInterface
  interface Content {
    VolumeState write(Device device, DeviceManager manager);
  }

  /** Creates a blank volume, or returns the one that the same call has created before. */
  public VolumeRecord create(String name, SizeRange size, VolumeParameters parameters) {
    return volumes.withName(
        name,
        lookup ->
            create(
                lookup,
                new Request(name, size, parameters, new Origin.Blank()),
                (device, _) -> wipe(device)));
  }

  /** The same with any content, under the caller's lock. */
  VolumeRecord create(Lookup lookup, Request request, Content content) {
    return switch (lookup) {
      case Lookup.Known(VolumeRecord volume) -> existing(volume, request, content);
      case Lookup.Damaged damaged -> throw damaged.blocked();
      case Lookup.Unknown(VolumeId id, String _) -> add(id, request, content);
    };
  }

  private VolumeState wipe(Device device) {
    // signatures of an earlier volume in the same memory
    signatures.wipe(device.path());
    return VolumeState.Blank.wiped();
  }

  private VolumeRecord add(VolumeId id, Request request, Content content) {
    DeviceManager manager = devices.current();
    if (manager.exists(id)) {
      throw new VolumeException.Failed(
          "a device for volume %s exists that is not in the ledger: it is not touched, remove it by hand if it is not needed"
              .formatted(id));
    }
    VolumeRecord volume =
        new VolumeRecord(
            id,
            request.size().requiredBytes(),
            request.parameters().named(request.name(), manager.mode()),
            new VolumeState.Creating(),
            request.origin());
    try {
      ledger.add(volume);
    } catch (StateException e) {
      ledger.remove(id);
      throw e;
    }
    return finish(volume, request, content, false);
  }

  private VolumeRecord existing(VolumeRecord volume, Request request, Content content) {
    if (volume.state() instanceof VolumeState.Creating) {
      requireSame(volume, request);
      interrupted.requireNoCommand(volume, volumes.manager(volume));
      // of a snapshot the time has changed
      VolumeRecord resumed =
          volume.origin().equals(request.origin())
              ? volume
              : ledger.add(volume.withOrigin(request.origin()));
      return finish(resumed, request, content, true);
    }
    return require(volume, request);
  }

  /** A volume that exists, provided that it is the requested one. */
  VolumeRecord require(VolumeRecord volume, Request request) {
    requireSame(volume, request);
    if (volume.state() instanceof VolumeState.Deleting) {
      throw new VolumeException.Unfinished(
          "volume \"%s\" is still being deleted, call DeleteVolume again first"
              .formatted(request.name()));
    }
    if (!Pool.isOn(volumes.numaNode(volume), request.parameters().numaNode())) {
      throw new VolumeException.Incompatible(
          "volume \"%s\" exists on NUMA node %s, requested: %d"
              .formatted(
                  request.name(),
                  volumes.numaNode(volume).stream()
                      .mapToObj(Integer::toString)
                      .findFirst()
                      .orElse("unknown"),
                  request.parameters().numaNode().orElseThrow()));
    }
    if (!request.size().includes(volume.sizeBytes())) {
      throw new VolumeException.Incompatible(
          "volume \"%s\" exists with %d bytes, requested: %s"
              .formatted(request.name(), volume.sizeBytes(), request.size()));
    }
    return volume;
  }

  private static void requireSame(VolumeRecord volume, Request request) {
    String name = request.name();
    if (!volume.name().equals(name)) {
      throw new VolumeException.Failed(
          "volume %s has the name \"%s\", not \"%s\"".formatted(volume.id(), volume.name(), name));
    }
    if (!volume.parameters().isCompatibleWith(request.parameters())) {
      throw new VolumeException.Incompatible(
          "volume \"%s\" exists with other parameters: %s"
              .formatted(name, volume.parameters().toContext()));
    }
    if (!volume.origin().isSameAs(request.origin())) {
      throw new VolumeException.Incompatible(
          "volume \"%s\" exists with another content: %s".formatted(name, volume.origin()));
    }
  }

  /**
   * Creates the device and records that it is ready.
   *
   * @param resumed whether an earlier call began, which may have left a running command
   */
  private VolumeRecord finish(
      VolumeRecord volume, Request request, Content content, boolean resumed) {
    Optional<Device> created = Optional.empty();
    try {
      Device device = createDevice(volume, request);
      created = Optional.of(device);
      VolumeState state = content.write(device, volumes.manager(volume));
      VolumeRecord sized = ledger.resize(volume, device.sizeBytes());
      VolumeRecord finished = ledger.setState(sized, state);
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
    } catch (VolumeException.Unfinished e) {
      // the next call resumes; undoing it may take as long as what was interrupted
      throw e;
    } catch (RuntimeException e) {
      rollBack(volume, created, e);
      throw e;
    } finally {
      devices.measure();
    }
  }

  private Device createDevice(VolumeRecord volume, Request request) {
    SizeRange size = request.size();
    OptionalInt numaNode = request.parameters().numaNode();
    DeviceManager manager = volumes.manager(volume);
    Optional<Device> found = manager.find(volume.id());
    if (found.isPresent()
        && (!size.includes(found.get().sizeBytes())
            || !Pool.isOn(manager.numaNode(volume.id()), numaNode))) {
      // left by a call that was killed; it was never published
      manager.delete(volume.id(), volume.isErasedUnpublished());
      found = Optional.empty();
    }
    Device device =
        found.orElseGet(
            () ->
                manager.create(
                    volume.id(),
                    size.requiredBytes(),
                    volume.parameters().accessModel(),
                    numaNode));
    if (size.isExceededBy(device.sizeBytes())) {
      throw new VolumeException.SizeOutOfRange(
          "the smallest possible volume has %d bytes, more than limit_bytes %d"
              .formatted(device.sizeBytes(), size.limitBytes()));
    }
    return device;
  }

  /** Undoes a failed creation; what cannot be undone stays recorded, for a retry. */
  private void rollBack(VolumeRecord volume, Optional<Device> created, RuntimeException reason) {
    try {
      Cancellation.uncancellable(
          () -> {
            // a command that could not be killed goes on
            interrupted.refuseRunning(volume, created);
            volumes.manager(volume).delete(volume.id(), volume.isErasedUnpublished());
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
