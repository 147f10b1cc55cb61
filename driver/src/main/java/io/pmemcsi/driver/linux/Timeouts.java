package io.pmemcsi.driver.linux;

import java.time.Duration;

/** How long the driver waits for what; the one place for all limits. */
public final class Timeouts {
  /** A command that does not touch all of a device. */
  public static final Duration COMMAND = Duration.ofMinutes(1);

  /** A command that may touch all of a device, such as mkfs. */
  public static final Duration WHOLE_DEVICE = Duration.ofMinutes(10);

  /** Creating a namespace initialises its metadata, which takes long for terabytes. */
  public static final Duration NAMESPACE = Duration.ofMinutes(5);

  /** A command that was killed; one that hangs in the kernel does not end at once, if ever. */
  public static final Duration KILL = Duration.ofSeconds(5);

  /** A device that was just unmounted: copies of the mount in other namespaces live longer. */
  public static final Duration BUSY_DEVICE = Duration.ofSeconds(2);

  /** A loop device that another process has open for a moment. */
  public static final Duration LOOP_DETACH = Duration.ofSeconds(2);

  /** A driver that was just killed may hold the lock of the state directory a little longer. */
  public static final Duration STATE_LOCK = Duration.ofSeconds(5);

  /** In-flight calls when the driver is stopped. */
  public static final Duration SHUTDOWN = Duration.ofMinutes(1);

  private Timeouts() {}
}
