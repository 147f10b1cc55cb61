package io.pmemcsi.driver.device;

import io.pmemcsi.driver.linux.exec.Cancellation;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The device manager of the mode that this driver runs in, those of other modes for volumes that
 * were created in them, and the measured capacity.
 */
public final class Devices {
  private static final Logger LOG = LoggerFactory.getLogger(Devices.class);

  private final DeviceManager current;
  private final Function<DeviceMode, DeviceManager> opener;
  private final Predicate<VolumeId> beingCreated;
  private final Map<DeviceMode, DeviceManager> others = new ConcurrentHashMap<>();
  private final AtomicLong measurements = new AtomicLong();
  private volatile Measured measured = new Measured.Failed("the capacity was not measured yet");
  private long latest;

  /** The last measurement of the capacity. */
  public sealed interface Measured {
    /** The capacity, if a measurement has ever succeeded. */
    default Optional<Capacity> known() {
      return this instanceof Known known ? Optional.of(known.capacity()) : Optional.empty();
    }

    /**
     * A successful one.
     *
     * @param pools the same by regions, where the mode has them
     */
    record Known(Capacity capacity, List<Pool> pools) implements Measured {
      public Known {
        pools = List.copyOf(pools);
      }
    }

    record Failed(String why) implements Measured {}
  }

  /**
   * Starts with the capacity unknown.
   *
   * @param opener opens a manager for another mode that provides existing devices and sets up
   *     nothing new
   */
  public Devices(DeviceManager current, Function<DeviceMode, DeviceManager> opener) {
    this(current, opener, OrphanedCommands.HERE::isCreating);
  }

  /** The same with another way to find out whether a command is creating a device. */
  public Devices(
      DeviceManager current,
      Function<DeviceMode, DeviceManager> opener,
      Predicate<VolumeId> beingCreated) {
    this.current = current;
    this.opener = opener;
    this.beingCreated = beingCreated;
  }

  public DeviceManager current() {
    return current;
  }

  /**
   * The manager of the mode that a volume was created in.
   *
   * @param mode empty in the oldest entries of the ledger: then the mode was never changed
   */
  public DeviceManager of(Optional<DeviceMode> mode) {
    return of(mode.orElse(current.mode()));
  }

  /** The manager of a mode. */
  public DeviceManager of(DeviceMode mode) {
    return mode == current.mode() ? current : others.computeIfAbsent(mode, opener);
  }

  /**
   * Whether a command is creating the device of a volume at this moment, for whichever call. Only a
   * list of the devices that is read later can show that there is none.
   */
  public boolean isBeingCreated(VolumeId id) {
    return beingCreated.test(id);
  }

  /** Whether the node has no memory at all, as far as that is known. */
  public boolean hasNothing() {
    return measured.known().filter(capacity -> capacity.total() == 0).isPresent();
  }

  /** The last measurement: schedulers ask often, so this runs no command. */
  public Measured capacity() {
    return measured;
  }

  /**
   * Measures again; to be called after each change, also by calls that were cancelled. A failure
   * does not replace a known capacity.
   */
  public void measure() {
    // one that began later knows more, whichever ends first
    long number = measurements.incrementAndGet();
    Cancellation.uncancellable(() -> keep(number, measureNow()));
  }

  private Measured measureNow() {
    try {
      return new Measured.Known(current.capacity(), current.pools());
    } catch (RuntimeException e) {
      LOG.atWarn().addKeyValue("error", e.getMessage()).log("The capacity is not known.");
      return new Measured.Failed(String.valueOf(e.getMessage()));
    }
  }

  private synchronized void keep(long number, Measured now) {
    boolean better = now instanceof Measured.Known || measured instanceof Measured.Failed;
    if (number > latest && better) {
      latest = number;
      measured = now;
    }
  }
}
