package io.pmemcsi.driver.device;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * What a slow tool has said, kept until it is a minute old, doubtful, or does not fit what somebody
 * wants to do. To be used under the owner's lock.
 */
public final class ExpiringCache<T> {
  /** Others may change things behind our back, so nothing is believed for longer. */
  private static final long MEMORY_NANOS = Duration.ofMinutes(1).toNanos();

  private final Supplier<T> question;
  private Optional<T> answer = Optional.empty();
  private long askedAt;

  public ExpiringCache(Supplier<T> question) {
    this.question = question;
  }

  /** What is remembered if it is plausible, else a fresh answer. */
  public T where(Predicate<T> plausible) {
    boolean young = System.nanoTime() - askedAt < MEMORY_NANOS;
    return answer.filter(plausible).filter(_ -> young).orElseGet(this::ask);
  }

  /** A fresh answer. */
  public T ask() {
    forget();
    T fresh = question.get();
    answer = Optional.of(fresh);
    askedAt = System.nanoTime();
    return fresh;
  }

  /** Our own change went well, so this is how things are now. */
  public void update(T now) {
    answer = Optional.of(now);
  }

  /** After a failure nobody knows. */
  public void forget() {
    answer = Optional.empty();
  }
}
