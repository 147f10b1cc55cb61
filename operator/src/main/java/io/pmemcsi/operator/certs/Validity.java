package io.pmemcsi.operator.certs;

import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Optional;

/** What the dates of a certificate say at some moment. */
enum Validity {
  TOO_EARLY,
  VALID,
  RUN_OUT;

  static Validity of(X509Certificate certificate, Instant now) {
    if (now.isAfter(expires(certificate))) {
      return RUN_OUT;
    }
    return now.isBefore(begins(certificate)) ? TOO_EARLY : VALID;
  }

  static Instant begins(X509Certificate certificate) {
    return certificate.getNotBefore().toInstant();
  }

  static Instant expires(X509Certificate certificate) {
    return certificate.getNotAfter().toInstant();
  }

  /**
   * What to tell the user, unless all is well.
   *
   * @param which certificate this is
   * @param remedy what to do when it ran out
   */
  static Optional<String> problem(
      String which, String remedy, X509Certificate certificate, Instant now) {
    return switch (of(certificate, now)) {
      case VALID -> Optional.empty();
      case RUN_OUT ->
          Optional.of("%s ran out on %s: %s".formatted(which, expires(certificate), remedy));
      case TOO_EARLY ->
          Optional.of("%s is not valid before %s".formatted(which, begins(certificate)));
    };
  }
}
