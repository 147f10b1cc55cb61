package io.pmemcsi.driver.device;

import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.volume.store.LedgerEntry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The device manager of the mode this driver runs in, those of other modes for volumes that were
 * made earlier, and the capacity in memory.
 */
public final class Devices {

  private static final Logger LOG = LoggerFactory.getLogger(Devices.class);

  private final DeviceManager current;
  private final Function<DeviceMode, DeviceManager> opener;
  private final Predicate<VolumeId> beingMade;
  private final Map<DeviceMode, DeviceManager> others = new ConcurrentHashMap<>();
  private final AtomicLong measurements = new AtomicLong();
  private volatile Measured measured = new Measured.Failed("the capacity was not measured yet");
  private long latest;

  /** The last answer to the question how much room there is. */
  public sealed interface Measured {
    record Known(Capacity capacity) implements Measured {}

    record Failed(String why) implements Measured {}
  }

  /**
   * Starts with the capacity unknown.
   *
   * @param opener opens a manager for another mode that hands out existing devices and sets up
   *     nothing new
   */
  public Devices(DeviceManager current, Function<DeviceMode, DeviceManager> opener) {
    this(current, opener, OrphanedCommands.HERE::isMaking);
  }

  /** The same with another way to tell whether a tool is at work for a volume. */
  public Devices(
      DeviceManager current,
      Function<DeviceMode, DeviceManager> opener,
      Predicate<VolumeId> beingMade) {
    this.current = current;
    this.opener = opener;
    this.beingMade = beingMade;
  }

  public DeviceManager current() {
    return current;
  }

  /** The manager that has the device of a volume. */
  public DeviceManager of(LedgerEntry entry) {
    return of(modeOf(entry));
  }

  /** The manager of a mode. */
  public DeviceManager of(DeviceMode mode) {
    return mode == current.mode() ? current : others.computeIfAbsent(mode, opener);
  }

  /**
   * Whether a tool is making the device of a volume at this moment, for whichever call. Only a look
   * at the devices that comes later can tell that there is none.
   */
  public boolean isBeingMade(VolumeId id) {
    return beingMade.test(id);
  }

  /** The mode that a volume was made in. */
  public DeviceMode modeOf(LedgerEntry entry) {
    // the oldest entries do not tell; then it can only be the mode that was never changed
    return entry.parameters().deviceMode().orElse(current.mode());
  }

  /** Whether the node has no memory at all, as far as that is known. */
  public boolean hasNothing() {
    return measured instanceof Measured.Known(Capacity capacity) && capacity.total() == 0;
  }

  /** From memory, so that schedulers may ask as often as they like. */
  public Measured capacity() {
    return measured;
  }

  /**
   * Measures again; to be called after each change, also by calls that were cancelled. What was
   * known before a failure is good enough until the next time; without it the failure is kept for
   * whoever asks.
   */
  public void measure() {
    // one that began later knows more, whichever ends first
    long number = measurements.incrementAndGet();
    Cancellation.shielded(() -> keep(number, measureNow()));
  }

  private Measured measureNow() {
    try {
      return new Measured.Known(current.capacity());
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
