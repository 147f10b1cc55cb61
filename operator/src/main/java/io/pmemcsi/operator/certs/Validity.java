package io.pmemcsi.operator.certs;

import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Optional;

/** Whether a certificate is valid at a time. */
enum Validity {
  NOT_YET_VALID,
  VALID,
  EXPIRED;

  static Validity of(X509Certificate certificate, Instant now) {
    if (now.isAfter(expires(certificate))) {
      return EXPIRED;
    }
    return now.isBefore(begins(certificate)) ? NOT_YET_VALID : VALID;
  }

  static Instant begins(X509Certificate certificate) {
    return certificate.getNotBefore().toInstant();
  }

  static Instant expires(X509Certificate certificate) {
    return certificate.getNotAfter().toInstant();
  }

  /**
   * What to report to the user; empty if the certificate is valid.
   *
   * @param which certificate this is
   * @param remedy what to do when it has expired
   */
  static Optional<String> problem(
      String which, String remedy, X509Certificate certificate, Instant now) {
    return switch (of(certificate, now)) {
      case VALID -> Optional.empty();
      case EXPIRED ->
          Optional.of("%s expired on %s: %s".formatted(which, expires(certificate), remedy));
      case NOT_YET_VALID ->
          Optional.of("%s is not valid before %s".formatted(which, begins(certificate)));
    };
  }
}
