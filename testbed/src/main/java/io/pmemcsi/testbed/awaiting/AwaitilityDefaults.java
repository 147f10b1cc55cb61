package io.pmemcsi.testbed.awaiting;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.pollinterval.IterativePollInterval;
import org.awaitility.pollinterval.PollInterval;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long a test waits for a condition that says nothing about it, and how often it looks. Several
 * modules run at a time on few processors: what takes a second when all is quiet may then take half
 * a minute, and a passing test returns earlier. JUnit finds this by itself.
 */
public final class AwaitilityDefaults implements BeforeAllCallback {

  private static final Duration USUAL = Duration.ofMinutes(2);

  /** A check is often a dozen requests: the longer the wait, the rarer the checks. */
  private static final PollInterval LOOKS =
      IterativePollInterval.iterative(
          last ->
              last.compareTo(Duration.ofMillis(400)) < 0 ? last.multipliedBy(3).dividedBy(2) : last,
          Duration.ofMillis(60));

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(USUAL);
    Awaitility.setDefaultPollInterval(LOOKS);
  }
}
