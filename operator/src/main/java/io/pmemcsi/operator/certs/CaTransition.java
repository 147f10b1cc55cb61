package io.pmemcsi.operator.certs;

import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The certificate authorities that a client trusts while those of its server are replaced. Pods
 * serve the previous certificate until the kubelet has updated the mounted secret or the Deployment
 * is rolled out, so that the previous authorities stay in the bundle for a while.
 *
 * @param bundle base64-encoded PEM
 * @param until when the previous authorities leave it; empty if there are none
 */
public record CaTransition(String bundle, Optional<Instant> until) {

  /** How long pods may serve the previous certificate. */
  public static final Duration KEPT = Duration.ofMinutes(10);

  /**
   * Decides what to trust.
   *
   * @param desired the authorities of the certificate that is going to be served
   * @param live what the client trusts now
   * @param begun the end of a transition that has begun
   */
  public static CaTransition of(
      String desired, Optional<String> live, Optional<Instant> begun, Instant now) {
    List<X509Certificate> next = certificates(desired);
    List<X509Certificate> trusted = live.map(CaTransition::certificates).orElse(List.of());
    List<X509Certificate> previous =
        trusted.stream()
            .filter(certificate -> !next.contains(certificate))
            .filter(certificate -> certificate.getNotAfter().toInstant().isAfter(now))
            .toList();
    Optional<Instant> until = trusted.containsAll(next) ? begun : Optional.of(now.plus(KEPT));
    if (previous.isEmpty() || until.filter(now::isBefore).isEmpty()) {
      return new CaTransition(desired, Optional.empty());
    }
    var both = new ArrayList<>(next);
    both.addAll(previous);
    return new CaTransition(TlsFiles.encode(Pem.of(both)), until);
  }

  private static List<X509Certificate> certificates(String bundle) {
    try {
      return Pem.certificates("caBundle", TlsFiles.decode("caBundle", bundle));
    } catch (BadCertificateException e) {
      // what another field manager wrote there is not kept
      return List.of();
    }
  }
}
