package io.pmemcsi.driver.device;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.exec.ToolFailedException;

/** Why an operation of a device manager failed; the CSI status follows from the type. */
public abstract sealed class DeviceException extends RuntimeException {

  private DeviceException(String message) {
    super(message);
  }

  private DeviceException(String message, Throwable cause) {
    super(message, cause);
  }

  /** There is no such device. */
  public static final class NotFound extends DeviceException {
    public NotFound(VolumeId id) {
      super("no device for volume " + id);
    }
  }

  /** The device is in use, so it is neither erased nor removed. */
  public static final class InUse extends DeviceException {
    public InUse(VolumeId id, String by) {
      super("the device of volume %s is in use: %s".formatted(id, by));
    }
  }

  /** There is a device of that name already. */
  public static final class Exists extends DeviceException {
    public Exists(VolumeId id, long sizeBytes) {
      super("there is a device for volume %s already, with %d bytes".formatted(id, sizeBytes));
    }
  }

  /** No single place is large enough. */
  public static final class NotEnoughSpace extends DeviceException {
    public NotEnoughSpace(long requestedBytes, long largestBytes) {
      super(
          "not enough space for %d bytes, the largest possible volume has %d bytes"
              .formatted(requestedBytes, largestBytes));
    }
  }

  /** Devices of this mode cannot do that, whatever the circumstances. */
  public static final class Unsupported extends DeviceException {
    public Unsupported(DeviceMode mode, String what) {
      super("device mode %s does not support %s".formatted(mode.text(), what));
    }
  }

  /** A tool or the operating system failed. */
  public static final class ToolFailed extends DeviceException {
    public ToolFailed(String operation, ToolFailedException cause) {
      super("%s: %s".formatted(operation, cause.getMessage()), cause);
    }

    public ToolFailed(String operation, Exception cause) {
      super("%s: %s".formatted(operation, Reason.withFile(cause)), cause);
    }
  }
}
