package io.pmemcsi.embedded;

import io.pmemcsi.embedded.server.ServerVersion;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/**
 * How an embedded server behaves.
 *
 * @param version the Kubernetes version it pretends to be; one newer than 1.20 keeps fields that it
 *     does not know
 * @param seed of generated names and identities
 * @param bookmarkEvery how often an idle watch is told how far it is
 * @param simulatedPodStart how long a pod of a simulated workload seems to need; empty where no
 *     controllers are simulated
 */
public record Options(
    ServerVersion version,
    long seed,
    InstantSource clock,
    Duration bookmarkEvery,
    Optional<Duration> simulatedPodStart) {
  /** Kubernetes 1.20, whose behaviour is compared with the real one; nothing is simulated. */
  public static Options usual() {
    return new Options(
        ServerVersion.KNOWN, 1, InstantSource.system(), Duration.ofSeconds(10), Optional.empty());
  }

  public Options withVersion(String text) {
    return new Options(ServerVersion.parse(text), seed, clock, bookmarkEvery, simulatedPodStart);
  }

  public Options withClock(InstantSource newClock) {
    return new Options(version, seed, newClock, bookmarkEvery, simulatedPodStart);
  }

  public Options withBookmarkEvery(Duration duration) {
    return new Options(version, seed, clock, duration, simulatedPodStart);
  }

  /**
   * Makes the status of DaemonSets, Deployments and StatefulSets move as if pods became ready, one
   * after the other; no pods are created.
   */
  public Options withSimulatedControllers(Duration perPod) {
    return new Options(version, seed, clock, bookmarkEvery, Optional.of(perPod));
  }
}
