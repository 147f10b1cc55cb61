package io.pmemcsi.embedded;

import io.pmemcsi.embedded.server.ServerVersion;
import java.time.Duration;
import java.time.InstantSource;

/**
 * How an embedded server behaves.
 *
 * @param version the Kubernetes version it pretends to be; one newer than 1.20 keeps fields that it
 *     does not know
 * @param seed of generated names and identities
 * @param bookmarkEvery how often an idle watch is told how far it is
 */
public record Options(
    ServerVersion version, long seed, InstantSource clock, Duration bookmarkEvery) {
  /** Kubernetes 1.20, whose behaviour is compared with the real one. */
  public static Options usual() {
    return new Options(ServerVersion.KNOWN, 1, InstantSource.system(), Duration.ofSeconds(10));
  }

  public Options withVersion(String text) {
    return new Options(ServerVersion.parse(text), seed, clock, bookmarkEvery);
  }

  public Options withSeed(long newSeed) {
    return new Options(version, newSeed, clock, bookmarkEvery);
  }

  public Options withClock(InstantSource newClock) {
    return new Options(version, seed, newClock, bookmarkEvery);
  }

  public Options withBookmarkEvery(Duration duration) {
    return new Options(version, seed, clock, duration);
  }
}
