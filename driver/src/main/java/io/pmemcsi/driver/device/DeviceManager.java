package io.pmemcsi.driver.device;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The devices of one device mode on this node.
 *
 * <p>Implementations may be called from several threads at once, never for one volume at once. They
 * know nothing of the ledger, of filesystems and of mounts: the caller has recorded a volume before
 * it creates the device, wipes a new one, and keeps staged volumes from being deleted. Every method
 * may throw a {@link DeviceException}. A command that failed or was killed may have done its work:
 * after a creation that failed the caller deletes the device.
 */
public interface DeviceManager {
  DeviceMode mode();

  /** Takes memory into use that has appeared since the start, where this mode has to prepare it. */
  default void takeNewMemory() {}

  /** What this manager could still provide; called after each change, so it may run commands. */
  Capacity capacity();

  /**
   * The same by the parts of the memory that volumes are in; none where this mode does not use
   * memory of the hardware.
   */
  default List<Pool> pools() {
    return List.of();
  }

  /** The NUMA node whose memory a volume is in, where it is known; never waits for a command. */
  default OptionalInt numaNode(VolumeId id) {
    return OptionalInt.empty();
  }

  /**
   * All devices that this manager has created or that look as if, read again from their source;
   * devices of other owners are left out.
   */
  List<Device> list();

  /**
   * Volumes for which there is something that is not a device: partly created, or disabled. They
   * are not in {@link #list}.
   */
  default List<VolumeId> incomplete() {
    return List.of();
  }

  /**
   * Whether a device that is not in the ledger must have been created by this driver: other
   * programs have no reason to create devices in its place or under such a name, and it is not
   * known to belong to another driver on this node.
   */
  default boolean isOwn(VolumeId id) {
    return true;
  }

  /**
   * Notes on the devices of these volumes, which are in the ledger, that they belong to this
   * driver, where their creation did not.
   */
  default void claim(Collection<VolumeId> volumes) {}

  /** Whether there is a device for a volume, owned or not; nothing is changed. */
  boolean exists(VolumeId id);

  /**
   * The parts of this node's memory that cannot be read at the moment, a disabled region for
   * example: as long as there is one, a device that is not found may still be there.
   */
  List<String> unavailablePools();

  /**
   * The device of a volume, ready for use; activates it where a reboot has left it inactive. Never
   * waits for a command that runs for another volume when the device node exists.
   */
  Optional<Device> find(VolumeId id);

  /**
   * What is left of a device that cannot be used any more, if something is: for its deletion, so
   * that its users are found.
   */
  default Optional<Device> remains(VolumeId id) {
    return Optional.empty();
  }

  /**
   * Creates a device of at least the given size, rounded up to what the hardware needs; zero asks
   * for the smallest one. The content of the device is undefined.
   *
   * @param numaNode the one whose memory it must be in, empty for any
   * @throws DeviceException.Exists when there is a device for this volume
   * @throws DeviceException.NotEnoughSpace when no place is large enough
   * @throws DeviceException.Unsupported when a NUMA node is requested and this mode knows none
   */
  Device create(VolumeId id, long sizeBytes, AccessModel accessModel, OptionalInt numaNode);

  /** The same in the memory of any NUMA node. */
  default Device create(VolumeId id, long sizeBytes, AccessModel accessModel) {
    return create(id, sizeBytes, accessModel, OptionalInt.empty());
  }

  /**
   * Removes a device, after overwriting all of it when it is to be erased. Does nothing when there
   * is none.
   *
   * @throws DeviceException.InUse when it is opened exclusively, because it is mounted for example
   */
  void delete(VolumeId id, boolean erase);

  /**
   * Copies all of a device, of this or another manager, to a new one of this manager; durable on
   * return. The caller keeps other programs from writing to either.
   */
  default void copy(Device from, Device to) throws IOException {
    BlockCopier.copy(from, to, false);
  }

  /** The size that the device of a volume would have after an expansion to at least this size. */
  long roundedSize(VolumeId id, long sizeBytes);

  /**
   * Expands a device that may be in use; one that is large enough stays as it is.
   *
   * @throws DeviceException.NotFound when there is none
   * @throws DeviceException.NotEnoughSpace when there is no space for so much
   * @throws DeviceException.Unsupported when devices of this mode are not expandable
   */
  Device expand(VolumeId id, long sizeBytes);
}
