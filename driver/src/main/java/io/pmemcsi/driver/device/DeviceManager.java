package io.pmemcsi.driver.device;

import java.util.List;
import java.util.Optional;

/**
 * The devices of one device mode on this node.
 *
 * <p>Implementations may be called from several threads at once, never for one volume at once. They
 * know nothing of the ledger, of filesystems and of mounts: the caller has recorded a volume before
 * it creates the device, wipes a fresh one, and keeps staged volumes from being deleted. Every
 * method may throw a {@link DeviceException}. A tool that failed or was killed may have done its
 * work: after a creation that failed the caller deletes the device.
 */
public interface DeviceManager {

  DeviceMode mode();

  /** What this manager could still hand out; asked after each change, so it may run tools. */
  Capacity capacity();

  /**
   * All devices that this manager has made or that look as if: devices of other owners are left
   * out.
   */
  List<Device> list();

  /**
   * Volumes for which there is something that is no device yet or not any more: half made, or
   * switched off. They are not in {@link #list}.
   */
  default List<VolumeId> halfMade() {
    return List.of();
  }

  /** Whether there is a device for a volume; nothing is touched, whoever it belongs to. */
  boolean exists(VolumeId id);

  /**
   * The parts of this node's memory that cannot be looked into at the moment, a disabled region for
   * example: as long as there is one, a device that is not found may still be there.
   */
  List<String> hidden();

  /** The device of a volume, ready for use; activates it where a reboot has left it inactive. */
  Optional<Device> find(VolumeId id);

  /**
   * Makes a device of at least the given size, rounded up to what the hardware needs; zero asks for
   * the smallest one. The content of the device is undefined.
   *
   * @throws DeviceException.Exists when there is a device for this volume
   * @throws DeviceException.NotEnoughSpace when no place is large enough
   */
  Device create(VolumeId id, long sizeBytes, AccessModel usage);

  /**
   * Removes a device, after overwriting all of it when it is to be erased. Nothing happens when
   * there is none.
   *
   * @throws DeviceException.InUse when somebody has it open exclusively, mounted for example
   */
  void delete(VolumeId id, boolean erase);

  /** The size that the device of a volume would have if it grew to at least so many bytes. */
  long rounded(VolumeId id, long sizeBytes);

  /**
   * Makes a device larger while it may be in use; one that is large enough stays as it is.
   *
   * @throws DeviceException.NotFound when there is none
   * @throws DeviceException.NotEnoughSpace when it cannot grow so far
   * @throws DeviceException.Unsupported when devices of this mode never grow
   */
  Device grow(VolumeId id, long sizeBytes);
}
