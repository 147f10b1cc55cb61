package io.pmemcsi.driver.volume.operations;

import io.grpc.Status;
import io.pmemcsi.driver.csi.CsiStatusException;
import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.DeviceManager;
import io.pmemcsi.driver.device.DeviceUsers;
import io.pmemcsi.driver.device.Devices;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.block.Signatures;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.state.StateException;
import io.pmemcsi.driver.volume.SizeRange;
import io.pmemcsi.driver.volume.VolumeParameters;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.store.Ledger;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All volumes of this node: made, found, grown, deleted.
 *
 * <p>Making one goes: contents "creating", ledger entry, device, wipe, real size, contents "blank".
 * Whatever step a crash hits, the same call goes on from there. Deleting goes: contents "deleting",
 * device, ledger entry, contents.
 */
public final class Volumes {

  private static final Logger LOG = LoggerFactory.getLogger(Volumes.class);

  private final Ledger ledger;
  private final Devices devices;
  private final Signatures signatures;
  private final VolumeLocks locks;
  private final DeviceUsers usages;

  public Volumes(
      Ledger ledger,
      Devices devices,
      Signatures signatures,
      VolumeLocks locks,
      DeviceUsers usages) {
    this.ledger = ledger;
    this.devices = devices;
    this.signatures = signatures;
    this.locks = locks;
    this.usages = usages;
  }

  /** Makes a volume, or finds the one that the same call has made before. */
  public LedgerEntry create(String name, SizeRange size, VolumeParameters wanted) {
    return lockedByName(name, id -> createLocked(id, name, size, wanted));
  }

  /** Deletes a volume; one that is not there was deleted before. */
  public void delete(String volumeId) {
    delete(volumeId, entry -> entry.parameters().eraseAfter());
  }

  /**
   * Deletes a volume that nobody was ever given. It is not erased: its memory holds what it held
   * before, and a volume that is made there hides that as well as this one has.
   */
  public void discard(String volumeId) {
    delete(volumeId, _ -> false);
  }

  private void delete(String volumeId, Predicate<LedgerEntry> erase) {
    withLock(
        volumeId,
        id -> {
          refuseDamaged(id);
          find(volumeId)
              .ifPresentOrElse(
                  entry -> deleteLocked(entry, erase.test(entry)), () -> refuseForeign(volumeId));
          return id;
        });
  }

  /** Makes the device of a volume larger. */
  public LedgerEntry grow(String volumeId, SizeRange size) {
    return withLock(
        volumeId,
        id -> {
          LedgerEntry entry = require(volumeId);
          if (entry.parameters().kataContainers()) {
            throw CsiStatusException.precondition(
                "volume %s holds a Kata image file, which cannot grow".formatted(id));
          }
          if (entry.sizeBytes() >= size.requiredBytes()) {
            if (size.isExceededBy(entry.sizeBytes())) {
              throw new CsiStatusException(
                  Status.Code.OUT_OF_RANGE,
                  "volume %s has %d bytes, more than limit_bytes %d: volumes never shrink"
                      .formatted(id, entry.sizeBytes(), size.limitBytes()));
            }
            return entry;
          }
          usable(entry);
          refuseBeyondLimit(id, size, devices.of(entry).rounded(id, size.requiredBytes()));
          Device device = devices.of(entry).grow(id, size.requiredBytes());
          LedgerEntry grown = entry.withSize(device.sizeBytes());
          ledger.write(grown);
          devices.measure();
          LOG.atInfo()
              .addKeyValue("volume", id)
              .addKeyValue("size", grown.sizeBytes())
              .log("Volume grown.");
          return grown;
        });
  }

  private static void refuseBeyondLimit(VolumeId id, SizeRange size, long grown) {
    if (size.isExceededBy(grown)) {
      throw new CsiStatusException(
          Status.Code.OUT_OF_RANGE,
          "volume %s would have %d bytes, more than limit_bytes %d"
              .formatted(id, grown, size.limitBytes()));
    }
  }

  /** All volumes in the order of their ids. */
  public List<LedgerEntry> list() {
    return List.copyOf(ledger.entries());
  }

  /** Another number whenever {@link #list} would tell something else. */
  public long version() {
    return ledger.version();
  }

  /** How much room there is, from memory. */
  public Capacity capacity() {
    return switch (devices.capacity()) {
      case Devices.Measured.Known(Capacity capacity) -> capacity;
      case Devices.Measured.Failed(String why) ->
          throw new CsiStatusException(Status.Code.INTERNAL, "cannot tell the capacity: " + why);
    };
  }

  /** Runs work that belongs to the volume which a caller calls so, by id or by name. */
  public <T> T withLock(String volumeId, Function<VolumeId, T> work) {
    return VolumeId.parse(volumeId)
        .map(
            id ->
                // whether it is the id of a volume can change until the lock for that id is held
                locks.with(id, () -> isKnown(id) ? work.apply(id) : lockedByName(volumeId, work)))
        .orElseGet(() -> lockedByName(volumeId, work));
  }

  private <T> T lockedByName(String name, Function<VolumeId, T> work) {
    VolumeId usual = VolumeId.fromName(name);
    return locks.with(
        usual,
        () -> {
          VolumeId old = isKnown(usual) ? usual : named(name).map(LedgerEntry::id).orElse(usual);
          // it may be gone until its own lock is held
          return locks.with(old, () -> work.apply(isKnown(old) ? old : usual));
        });
  }

  /** The volume, known by its id or, ephemeral ones, by the name that Kubernetes gave it. */
  public Optional<LedgerEntry> find(String volumeId) {
    // the name of a persistent volume is not its id: nobody may delete one by it
    return ledger
        .find(identify(volumeId))
        .filter(entry -> entry.id().value().equals(volumeId) || entry.parameters().ephemeral())
        .or(() -> named(volumeId).filter(entry -> entry.parameters().ephemeral()));
  }

  public boolean isDamaged(String volumeId) {
    return ledger.damage(identify(volumeId)).isPresent();
  }

  /** The volume, for whoever only wants to know about it. */
  public LedgerEntry get(String volumeId) {
    return require(volumeId);
  }

  /** The volume, or the reason why it cannot be used. */
  public LedgerEntry require(String volumeId) {
    VolumeId id = identify(volumeId);
    refuseDamaged(id);
    return find(volumeId)
        .orElseThrow(
            () -> CsiStatusException.notFound("there is no volume \"%s\"".formatted(volumeId)));
  }

  /** The device of a volume that is whole. */
  public Device usable(LedgerEntry entry) {
    switch (ledger.contents(entry.id()).orElse(new VolumeState.RawBlock())) {
      case VolumeState.Creating _ ->
          throw CsiStatusException.precondition(
              "volume %s was never finished, call CreateVolume again".formatted(entry.id()));
      case VolumeState.Deleting _ ->
          throw CsiStatusException.precondition(
              "volume %s is being deleted, call DeleteVolume again".formatted(entry.id()));
      case VolumeState.Blank _, VolumeState.Formatted _, VolumeState.RawBlock _ -> {}
    }
    return device(entry);
  }

  private Device device(LedgerEntry entry) {
    return devices
        .of(entry)
        .find(entry.id())
        .orElseThrow(
            () ->
                CsiStatusException.notFound(
                    "the device of volume %s is gone, the ledger still has it"
                        .formatted(entry.id())));
  }

  /** The device, also of a volume that is not whole. */
  public Optional<Device> deviceIfThere(LedgerEntry entry) {
    return devices.of(entry).find(entry.id());
  }

  /** Whether the creation of a volume was interrupted. */
  public boolean isUnfinished(LedgerEntry entry) {
    return contents(entry).filter(there -> there instanceof VolumeState.Creating).isPresent();
  }

  public Optional<VolumeState> contents(LedgerEntry entry) {
    return ledger.contents(entry.id());
  }

  public void record(LedgerEntry entry, VolumeState contents) {
    ledger.write(entry.id(), contents);
  }

  private VolumeId identify(String volumeId) {
    return VolumeId.parse(volumeId)
        .filter(this::isKnown)
        .orElseGet(() -> VolumeId.fromName(volumeId));
  }

  private boolean isKnown(VolumeId id) {
    return ledger.find(id).isPresent() || ledger.damage(id).isPresent();
  }

  private void refuseDamaged(VolumeId id) {
    ledger
        .damage(id)
        .ifPresent(
            why -> {
              throw CsiStatusException.precondition(
                  "volume %s is blocked because its record is damaged: %s. Repair or remove the"
                          .formatted(id, why)
                      + " file and restart the driver");
            });
  }

  private LedgerEntry createLocked(
      VolumeId id, String name, SizeRange size, VolumeParameters wanted) {
    refuseDamaged(id);
    Optional<LedgerEntry> existing = ledger.find(id);
    if (existing.isPresent()) {
      return existing(existing.get(), name, size, wanted);
    }
    DeviceManager manager = devices.current();
    if (manager.exists(id)) {
      throw new CsiStatusException(
          Status.Code.INTERNAL,
          "there is a device for volume %s that the ledger does not know: it is left alone, remove"
                  .formatted(id)
              + " it by hand if it is not needed");
    }
    LedgerEntry entry =
        new LedgerEntry(id, size.requiredBytes(), wanted.named(name, manager.mode()));
    try {
      ledger.write(id, new VolumeState.Creating());
      ledger.write(entry);
    } catch (StateException e) {
      ledger.remove(id);
      throw e;
    }
    return finish(entry, size, false);
  }

  /** The volume that was made with a name, whatever its id: old releases made ids in other ways. */
  public Optional<LedgerEntry> named(String name) {
    return ledger.entries().stream().filter(entry -> entry.name().equals(name)).findFirst();
  }

  private LedgerEntry existing(
      LedgerEntry entry, String name, SizeRange size, VolumeParameters wanted) {
    if (!entry.name().equals(name)) {
      throw new CsiStatusException(
          Status.Code.INTERNAL,
          "volume %s has the name \"%s\", not \"%s\"".formatted(entry.id(), entry.name(), name));
    }
    if (!entry.parameters().servesFor(wanted)) {
      throw CsiStatusException.exists(
          "volume \"%s\" exists with other parameters: %s"
              .formatted(name, entry.parameters().toContext()));
    }
    Optional<VolumeState> contents = ledger.contents(entry.id());
    if (contents.isPresent() && contents.get() instanceof VolumeState.Deleting) {
      throw new CsiStatusException(
          Status.Code.ABORTED,
          "volume \"%s\" is still being deleted, call DeleteVolume again first".formatted(name));
    }
    if (contents.isPresent() && contents.get() instanceof VolumeState.Creating) {
      lookAfterTools(entry);
      return finish(entry, size, true);
    }
    if (!size.includes(entry.sizeBytes())) {
      throw CsiStatusException.exists(
          "volume \"%s\" exists with %d bytes, asked for: %s"
              .formatted(name, entry.sizeBytes(), size));
    }
    return entry;
  }

  /**
   * A tool outlives the driver that has started it. What it makes is neither to be made a second
   * time, in another volume group for example, nor to be left to nobody.
   */
  private void lookAfterTools(LedgerEntry entry) {
    refuseWhileMade(entry);
    // one may have ended since the devices were last asked for, and what is remembered is older
    devices.of(entry).list();
  }

  private void refuseWhileMade(LedgerEntry entry) {
    if (devices.isBeingMade(entry.id())) {
      throw new CsiStatusException(
          Status.Code.ABORTED,
          "a tool that an interrupted call has left is still making the device of volume \"%s\","
                  .formatted(entry.name())
              + " call again when it has ended");
    }
  }

  /**
   * Makes the device and records that it is there.
   *
   * @param resumed whether an earlier call began, which may have left a tool at work
   */
  private LedgerEntry finish(LedgerEntry entry, SizeRange size, boolean resumed) {
    try {
      Device device = make(entry, size);
      // what an earlier volume has left in the same memory belongs to nobody
      signatures.wipe(device.path());
      LedgerEntry finished = entry.withSize(device.sizeBytes());
      if (!finished.equals(entry)) {
        ledger.write(finished);
      }
      ledger.write(entry.id(), VolumeState.Blank.wiped());
      LOG.atInfo()
          .addKeyValue("volume", entry.id())
          .addKeyValue("name", entry.name())
          .addKeyValue("size", finished.sizeBytes())
          .log("Volume created.");
      return finished;
    } catch (DeviceException.Exists e) {
      if (resumed) {
        // the tool of the earlier call has ended since we looked: the device is ours
        throw new CsiStatusException(
            Status.Code.ABORTED,
            "an interrupted call has only now made the device of volume \"%s\", call CreateVolume"
                    .formatted(entry.name())
                + " again");
      }
      // made by somebody else, between our look and our command: theirs to remove
      ledger.remove(entry.id());
      throw e;
    } catch (RuntimeException e) {
      takeBack(entry, e);
      throw e;
    } finally {
      devices.measure();
    }
  }

  private Device make(LedgerEntry entry, SizeRange size) {
    DeviceManager manager = devices.of(entry);
    Optional<Device> found = manager.find(entry.id());
    if (found.isPresent() && !size.includes(found.get().sizeBytes())) {
      // half made by a call that was killed; nobody has seen it
      manager.delete(entry.id(), false);
      found = Optional.empty();
    }
    Device device =
        found.orElseGet(
            () -> manager.create(entry.id(), size.requiredBytes(), entry.parameters().usage()));
    if (size.isExceededBy(device.sizeBytes())) {
      throw new CsiStatusException(
          Status.Code.OUT_OF_RANGE,
          "the smallest possible volume has %d bytes, more than limit_bytes %d"
              .formatted(device.sizeBytes(), size.limitBytes()));
    }
    return device;
  }

  /** Takes a failed creation back; what cannot be undone stays recorded and can be tried again. */
  private void takeBack(LedgerEntry entry, RuntimeException reason) {
    try {
      Cancellation.shielded(() -> undo(entry));
    } catch (RuntimeException e) {
      LOG.atWarn()
          .addKeyValue("volume", entry.id())
          .addKeyValue("error", e.getMessage())
          .log("A failed creation could not be undone, it stays in the ledger.");
      // with most other codes a caller takes it for granted that nothing is left, and forgets it
      throw new CsiStatusException(
          Status.Code.ABORTED,
          "%s; this could not be taken back: %s. Call again"
              .formatted(reason.getMessage(), e.getMessage()));
    }
  }

  private void undo(LedgerEntry entry) {
    refuseWhileMade(entry); // a tool that could not be killed goes on
    devices.of(entry).delete(entry.id(), false);
    ledger.remove(entry.id());
  }

  private void deleteLocked(LedgerEntry entry, boolean erase) {
    if (isUnfinished(entry)) {
      lookAfterTools(entry);
    }
    refuseHidden(entry);
    usages.refuseInUse(entry, devices.of(entry));
    Optional<VolumeState> before = ledger.contents(entry.id());
    ledger.write(entry.id(), new VolumeState.Deleting());
    try {
      devices.of(entry).delete(entry.id(), erase);
    } catch (DeviceException.InUse e) {
      // nothing was touched, so everything that is recorded about the content still holds
      before.ifPresent(contents -> ledger.write(entry.id(), contents));
      throw e;
    } finally {
      devices.measure();
    }
    ledger.remove(entry.id());
    LOG.atInfo().addKeyValue("volume", entry.id()).log("Volume deleted.");
  }

  /** Forgetting a volume whose device may come back would leave the device to nobody. */
  private void refuseHidden(LedgerEntry entry) {
    DeviceManager manager = devices.of(entry);
    if (manager.exists(entry.id())) {
      return;
    }
    List<String> hidden = manager.hidden();
    if (!hidden.isEmpty()) {
      throw CsiStatusException.precondition(
          "the device of volume %s is not there, it may be in %s, which cannot be looked into: enable"
                  .formatted(entry.id(), String.join(", ", hidden))
              + " what is disabled, restart the driver where that is said, and delete the volume"
              + " then");
    }
  }

  private void refuseForeign(String volumeId) {
    VolumeId.parse(volumeId)
        .filter(id -> devices.current().exists(id))
        .ifPresent(
            id -> {
              throw CsiStatusException.precondition(
                  "there is a device %s that is not in the ledger: this driver did not make it and"
                          .formatted(id)
                      + " does not delete it");
            });
  }
}
