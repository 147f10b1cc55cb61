package io.pmemcsi.embedded.server;

import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.UUID;

/** What the server takes from outside: time, identities and names; the latter two from a seed. */
final class ServerContext {
  private static final String NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789";

  private final InstantSource clock;
  private final Random random;

  ServerContext(InstantSource clock, long seed) {
    this.clock = clock;
    this.random = new Random(seed);
  }

  /** Now, as the server writes times. */
  String now() {
    return clock.instant().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  synchronized String newUid() {
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }

  synchronized String newSuffix() {
    StringBuilder suffix = new StringBuilder();
    for (int i = 0; i < 5; i++) {
      suffix.append(NAME_LETTERS.charAt(random.nextInt(NAME_LETTERS.length())));
    }
    return suffix.toString();
  }
}
