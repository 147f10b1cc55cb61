package io.pmemcsi.driver.volume.operations;

import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.Pool;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.volume.VolumeException;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/** The volumes of this node: resolves IDs, locks volumes, and gives access to their devices. */
public final class Volumes {
  private final Ledger ledger;
  private final Devices devices;
  private final VolumeLocks locks;

  public Volumes(Ledger ledger, Devices devices, VolumeLocks locks) {
    this.ledger = ledger;
    this.devices = devices;
    this.locks = locks;
  }

  /** All volumes, ordered by ID. */
  public List<VolumeRecord> list() {
    return ledger.records().stream().filter(record -> !record.isSnapshot()).toList();
  }

  /** All snapshots that are complete, ordered by ID. */
  public List<VolumeRecord> snapshots() {
    return ledger.records().stream()
        .filter(record -> record.isSnapshot() && record.isComplete())
        .toList();
  }

  /** All volumes and snapshots whose creation has begun and not ended. */
  List<VolumeRecord> incomplete() {
    return ledger.records().stream()
        .filter(record -> record.state() instanceof VolumeState.Creating)
        .toList();
  }

  /** Changes whenever {@link #list} would return something else. */
  public long version() {
    return ledger.version();
  }

  /** The capacity as it was last measured, of one NUMA node or of all. */
  public Capacity capacity(OptionalInt numaNode) {
    return switch (devices.capacity()) {
      case Devices.Measured.Known known ->
          numaNode.isEmpty()
              ? known.capacity()
              : Pool.capacityOn(numaNode.getAsInt(), known.pools());
      case Devices.Measured.Failed(String why) ->
          throw new VolumeException.Failed("the capacity is unknown: " + why);
    };
  }

  /** Runs work under the lock of the volume with this ID or legacy name. */
  public <T> T withVolume(String volumeId, Function<Lookup, T> work) {
    return VolumeId.parse(volumeId)
        .map(
            id ->
                // whether it is the ID of a volume can change until the lock for that ID is held
                locks.with(
                    id,
                    () ->
                        ledger.knows(id)
                            ? work.apply(resolve(volumeId))
                            : withNameLock(volumeId, _ -> work.apply(resolve(volumeId)))))
        .orElseGet(() -> withNameLock(volumeId, _ -> work.apply(resolve(volumeId))));
  }

  /** Runs work under the lock of the volume with this name, whatever its ID. */
  <T> T withName(String name, Function<Lookup, T> work) {
    return withNameLock(name, id -> work.apply(lookup(id, ledger.find(id), name)));
  }

  /** Runs work under the lock of the snapshot with this ID. */
  <T> T withSnapshot(VolumeId id, Function<Lookup, T> work) {
    return locks.with(
        id,
        () -> work.apply(lookup(id, ledger.find(id).filter(VolumeRecord::isSnapshot), id.value())));
  }

  /**
   * Runs work that reads a volume or snapshot, under its lock, while the caller holds the lock of
   * what is made of it.
   */
  <T> T withSource(VolumeId id, Function<Optional<VolumeRecord>, T> work) {
    return locks.withSecond(id, Timeouts.SOURCE_LOCK, () -> work.apply(ledger.find(id)));
  }

  private <T> T withNameLock(String name, Function<VolumeId, T> work) {
    VolumeId current = VolumeId.fromName(name);
    return locks.with(
        current,
        () -> {
          VolumeId id =
              ledger.knows(current) ? current : named(name).map(VolumeRecord::id).orElse(current);
          // it may be deleted until its own lock is held
          return locks.with(id, () -> work.apply(ledger.knows(id) ? id : current));
        });
  }

  /** What a volume ID refers to, for callers that only read. */
  public Lookup resolve(String volumeId) {
    VolumeId id =
        VolumeId.parse(volumeId).filter(ledger::knows).orElseGet(() -> VolumeId.fromName(volumeId));
    // the name of a persistent volume is not its ID: no caller may delete one by it
    Optional<VolumeRecord> found =
        ledger
            .find(id)
            .filter(volume -> !volume.isSnapshot())
            .filter(volume -> volume.id().value().equals(volumeId) || volume.isEphemeral())
            .or(() -> named(volumeId).filter(VolumeRecord::isEphemeral));
    return lookup(id, found, volumeId);
  }

  private Lookup lookup(VolumeId id, Optional<VolumeRecord> found, String requested) {
    Optional<String> damage = ledger.damage(id);
    if (damage.isPresent()) {
      return new Lookup.Damaged(id, damage.get());
    }
    return found.<Lookup>map(Lookup.Known::new).orElseGet(() -> new Lookup.Unknown(id, requested));
  }

  /** The volume that was created with a name, whatever its ID: releases differ in how they hash. */
  public Optional<VolumeRecord> named(String name) {
    return ledger.records().stream()
        .filter(volume -> !volume.isSnapshot() && volume.name().equals(name))
        .findFirst();
  }

  /** The volume or snapshot with an ID. */
  Optional<VolumeRecord> find(VolumeId id) {
    return ledger.find(id);
  }

  /** The record of a volume as it is now. */
  public Optional<VolumeRecord> current(VolumeRecord volume) {
    return ledger.find(volume.id());
  }

  /** Records what is on a volume's device; durable on return. */
  public VolumeRecord setState(VolumeRecord volume, VolumeState state) {
    return ledger.setState(volume, state);
  }

  /** The device of a volume that is ready for use. */
  public Device usableDevice(VolumeRecord volume) {
    requireUsable(volume);
    return device(volume)
        .orElseThrow(
            () ->
                new VolumeException.NotFound(
                    "volume %s is in the ledger, but its device is not found"
                        .formatted(volume.id())));
  }

  /** Throws when a volume is being created or deleted. */
  public void requireUsable(VolumeRecord volume) {
    switch (volume.state()) {
      case VolumeState.Creating _ ->
          throw new VolumeException.PreconditionFailed(
              "the creation of volume %s was interrupted, call CreateVolume again"
                  .formatted(volume.id()));
      case VolumeState.Deleting _ ->
          throw new VolumeException.PreconditionFailed(
              "volume %s is being deleted, call DeleteVolume again".formatted(volume.id()));
      case VolumeState.Blank _,
          VolumeState.Formatted _,
          VolumeState.RawBlock _,
          VolumeState.Legacy _ -> {}
    }
  }

  /** The device of a volume in any state. */
  public Optional<Device> device(VolumeRecord volume) {
    return manager(volume).find(volume.id());
  }

  /** The NUMA node whose memory a volume is in, where it is known. */
  public OptionalInt numaNode(VolumeRecord volume) {
    return manager(volume).numaNode(volume.id());
  }

  /** The device manager of the mode that a volume was created in. */
  DeviceManager manager(VolumeRecord volume) {
    return devices.of(volume.parameters().deviceMode());
  }
}
