package io.pmemcsi.driver.device;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.util.List;
import java.util.OptionalInt;

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

    /** The same where a NUMA node may be requested. */
    public static NotEnoughSpace on(
        OptionalInt numaNode, long requestedBytes, long largestBytes, List<Pool> pools) {
      return numaNode.isEmpty()
          ? new NotEnoughSpace(requestedBytes, largestBytes)
          : new NotEnoughSpace(numaNode.getAsInt(), requestedBytes, pools);
    }

    private NotEnoughSpace(int numaNode, long requestedBytes, List<Pool> pools) {
      super(
          "not enough space for %d bytes on NUMA node %d (parameter \"numaNode\"), the largest possible volume there has %d bytes; the memory of this node is on the NUMA nodes %s"
              .formatted(
                  requestedBytes,
                  numaNode,
                  Pool.capacityOn(numaNode, pools).maxVolumeSize(),
                  pools.stream()
                      .flatMapToInt(pool -> pool.numaNode().stream())
                      .distinct()
                      .sorted()
                      .boxed()
                      .toList()));
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
