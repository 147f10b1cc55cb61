package io.pmemcsi.operator.certs;

import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import java.util.Set;

/** Which CA verifies a chain of certificates. */
sealed interface Trust {

  /**
   * Verified by this CA. Its own validity is not checked: PKIX ignores the dates of a trust anchor,
   * but the API server does not.
   */
  record TrustedBy(X509Certificate anchor) implements Trust {}

  /** Verified by no CA. */
  record Untrusted(String reason) implements Trust {}

  /** If several CAs verify the chain, the one that expires last. */
  static Trust of(List<X509Certificate> chain, List<X509Certificate> authority, Instant now) {
    List<X509Certificate> path = chain.stream().filter(c -> !authority.contains(c)).toList();
    List<X509Certificate> lastToExpireFirst =
        authority.stream()
            .sorted(
                Comparator.comparing((X509Certificate c) -> Validity.of(c, now) == Validity.VALID)
                    .thenComparing(Validity::expires)
                    .reversed())
            .toList();
    Trust found = new Untrusted("the CA certificate is empty");
    for (X509Certificate anchor : lastToExpireFirst) {
      found = verify(anchor, path, now);
      if (found instanceof TrustedBy) {
        return found;
      }
    }
    return found;
  }

  private static Trust verify(X509Certificate anchor, List<X509Certificate> path, Instant now) {
    try {
      var parameters = new PKIXParameters(Set.of(new TrustAnchor(anchor, null)));
      parameters.setRevocationEnabled(false);
      parameters.setDate(Date.from(now));
      CertPathValidator.getInstance("PKIX")
          .validate(CertificateFactory.getInstance("X.509").generateCertPath(path), parameters);
      return new TrustedBy(anchor);
    } catch (CertPathValidatorException e) {
      return new Untrusted(
          "the certificate is not signed by the given CA: %s, %s"
              .formatted(e.getReason(), e.getMessage()));
    } catch (GeneralSecurityException e) {
      return new Untrusted("the certificate cannot be verified: " + e.getMessage());
    }
  }
}
