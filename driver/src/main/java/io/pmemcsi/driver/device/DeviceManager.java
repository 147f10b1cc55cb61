package io.pmemcsi.driver.device;

import java.util.List;
import java.util.Optional;

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

  /** What this manager could still provide; called after each change, so it may run commands. */
  Capacity capacity();

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
   * Whether a device that is not in the ledger must have been created by a driver like this one,
   * because other programs have no reason to create devices in its place or under such a name.
   */
  default boolean isOwnName(VolumeId id) {
    return true;
  }

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
   * Creates a device of at least the given size, rounded up to what the hardware needs; zero asks
   * for the smallest one. The content of the device is undefined.
   *
   * @throws DeviceException.Exists when there is a device for this volume
   * @throws DeviceException.NotEnoughSpace when no place is large enough
   */
  Device create(VolumeId id, long sizeBytes, AccessModel accessModel);

  /**
   * Removes a device, after overwriting all of it when it is to be erased. Does nothing when there
   * is none.
   *
   * @throws DeviceException.InUse when it is opened exclusively, because it is mounted for example
   */
  void delete(VolumeId id, boolean erase);

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
