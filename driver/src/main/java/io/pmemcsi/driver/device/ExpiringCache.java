package io.pmemcsi.driver.device;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The answer of a slow tool or server, kept until it expires, is invalidated, or does not fit what
 * a caller needs. Loading and changing need the owner's lock; {@link #last} does not.
 */
public final class ExpiringCache<T> {
  /** Other programs may change things, so nothing is trusted for longer. */
  private static final Duration VALIDITY = Duration.ofMinutes(1);

  private final Supplier<T> loader;
  private final long validityNanos;
  private volatile Optional<T> last = Optional.empty();
  private boolean valid;
  private long loadedAt;

  public ExpiringCache(Supplier<T> loader) {
    this(loader, VALIDITY);
  }

  public ExpiringCache(Supplier<T> loader, Duration validity) {
    this.loader = loader;
    this.validityNanos = validity.toNanos();
  }

  /** The cached value if it is valid and plausible, else one that is loaded now. */
  public T getIf(Predicate<T> plausible) {
    boolean usable = valid && System.nanoTime() - loadedAt < validityNanos;
    return last.filter(_ -> usable).filter(plausible).orElseGet(this::refresh);
  }

  /** Loads the value. */
  public T refresh() {
    invalidate();
    T loaded = loader.get();
    last = Optional.of(loaded);
    valid = true;
    loadedAt = System.nanoTime();
    return loaded;
  }

  /** Replaces the value after a change of our own that succeeded. */
  public void update(T now) {
    last = Optional.of(now);
    valid = true;
  }

  /** Forces the next {@link #getIf} to load, because a change failed halfway. */
  public void invalidate() {
    valid = false;
  }

  /**
   * The value that was loaded last, whatever its age; for readers that must not wait for the lock
   * and confirm themselves what they find.
   */
  public Optional<T> last() {
    return last;
  }
}
