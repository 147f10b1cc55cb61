package io.pmemcsi.driver.linux;

import java.time.Duration;

/**
 * How long the driver waits for what; the one place for all limits. How often something is
 * repeated, and how long a cache is valid, is in the class that does it.
 */
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

  /** Other threads that attach loop devices; then two may try the same free device. */
  public static final Duration LOOP_ATTACH = Duration.ofSeconds(2);

  /** A driver that was just killed may hold the lock of the state directory a little longer. */
  public static final Duration STATE_LOCK = Duration.ofSeconds(5);

  /**
   * An interrupted CreateVolume that is not called again. The provisioner waits five minutes at
   * most between two calls.
   */
  public static final Duration ABANDONED_CREATION = Duration.ofHours(1);

  /** A call for the volume that a snapshot or a clone is made of. */
  public static final Duration SOURCE_LOCK = Duration.ofSeconds(10);

  /** In-flight calls when the driver is stopped. */
  public static final Duration SHUTDOWN = Duration.ofMinutes(1);

  /** Calls that were cancelled because they did not end before {@link #SHUTDOWN}. */
  public static final Duration CANCELLED_CALLS = Duration.ofSeconds(5);

  /** The threads of a server that has stopped. */
  public static final Duration SERVER_THREADS = Duration.ofSeconds(2);

  /** A call that a node answers to the central controller from memory. */
  public static final Duration NODE_ANSWER = Duration.ofSeconds(5);

  /** A node's registration, for which the controller lists the volumes of the node. */
  public static final Duration REGISTER = Duration.ofSeconds(30);

  /** A node that stops does not wait long for the controller. */
  public static final Duration UNREGISTER = Duration.ofSeconds(2);

  /**
   * Nodes that register with a controller without records: several times what a node waits at most
   * between two attempts.
   */
  public static final Duration REGISTRATION_PERIOD = Duration.ofSeconds(30);

  /** A new connection between controller and node. */
  public static final Duration CONNECT = Duration.ofSeconds(5);

  /** A TLS handshake, from the side of the server. */
  public static final Duration HANDSHAKE = Duration.ofSeconds(10);

  /** How often a connection is checked: a partition sends no end of connection. */
  public static final Duration KEEP_ALIVE_INTERVAL = Duration.ofSeconds(10);

  /** The answer to such a check. */
  public static final Duration KEEP_ALIVE = Duration.ofSeconds(5);

  /** How often servers let clients check; less than the interval, because clocks differ. */
  public static final Duration KEEP_ALIVE_PERMITTED = Duration.ofSeconds(5);

  private Timeouts() {}
}
