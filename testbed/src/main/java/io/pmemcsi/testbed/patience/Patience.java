package io.pmemcsi.testbed.patience;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long a test waits for a condition that says nothing about it. Several modules run at a time
 * on few processors: what takes a second when all is quiet may then take half a minute, and nobody
 * waits for the rest when all is well. JUnit finds this by itself.
 */
public final class Patience implements BeforeAllCallback {

  private static final Duration USUAL = Duration.ofMinutes(2);

  @Override
  public void beforeAll(ExtensionContext context) {
    Awaitility.setDefaultTimeout(USUAL);
  }
}
