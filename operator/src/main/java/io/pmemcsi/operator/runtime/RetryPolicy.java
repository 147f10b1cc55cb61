package io.pmemcsi.operator.runtime;

import io.javaoperatorsdk.operator.processing.event.rate.LinearRateLimiter;
import io.javaoperatorsdk.operator.processing.retry.GenericRetry;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * How soon a resource is reconciled again.
 *
 * @param retry after a failure
 * @param perSecond for each resource: another controller that causes drift after each repair must
 *     not keep the operator busy
 */
public record RetryPolicy(Supplier<GenericRetry> retry, int perSecond) {

  public static final RetryPolicy DEFAULT =
      new RetryPolicy(
          () ->
              new GenericRetry()
                  .setInitialInterval(200)
                  .setIntervalMultiplier(1.6)
                  .setMaxInterval(30_000)
                  .setMaxAttempts(-1),
          20);

  /** Counted by half seconds: drift must be reverted within one even under load. */
  LinearRateLimiter limiter() {
    return new LinearRateLimiter(Duration.ofMillis(500), Math.ceilDiv(perSecond, 2));
  }
}
