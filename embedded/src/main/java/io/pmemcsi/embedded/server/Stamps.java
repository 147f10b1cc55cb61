package io.pmemcsi.embedded.server;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.UUID;

/** Times and UIDs that the server sets. The UIDs of every run are the same. */
final class Stamps {
  private final Random random = new Random(1);

  /** The current time in the format of the API. */
  String now() {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  synchronized String newUid() {
    return new UUID(random.nextLong(), random.nextLong()).toString();
  }
}
