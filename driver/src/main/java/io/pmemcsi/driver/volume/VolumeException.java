package io.pmemcsi.driver.volume;

/**
 * Why an operation on a volume was refused. Each type stands for one way in which the caller can
 * react; the CSI services map it to a status code.
 */
public abstract sealed class VolumeException extends RuntimeException {
  private VolumeException(String message) {
    super(message);
  }

  /** The request itself is wrong; repeating it is of no use. */
  public static final class InvalidRequest extends VolumeException {
    public InvalidRequest(String message) {
      super(message);
    }
  }

  /** The volume, its device or its mount does not exist. */
  public static final class NotFound extends VolumeException {
    public NotFound(String message) {
      super(message);
    }
  }

  /** It exists already, and differs from what was requested. */
  public static final class Incompatible extends VolumeException {
    public Incompatible(String message) {
      super(message);
    }
  }

  /** Something else has to happen first. */
  public static final class PreconditionFailed extends VolumeException {
    public PreconditionFailed(String message) {
      super(message);
    }
  }

  /** The requested size is impossible. */
  public static final class SizeOutOfRange extends VolumeException {
    public SizeOutOfRange(String message) {
      super(message);
    }
  }

  /** An earlier call is not finished; the same call succeeds later. */
  public static final class Unfinished extends VolumeException {
    public Unfinished(String message) {
      super(message);
    }
  }

  /** The caller has cancelled the call. */
  public static final class Cancelled extends VolumeException {
    public Cancelled(String message) {
      super(message);
    }
  }

  /** The node, or the state of the driver, is broken. */
  public static final class Failed extends VolumeException {
    public Failed(String message) {
      super(message);
    }
  }
}
