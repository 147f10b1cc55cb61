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

/** Who vouches for a chain of certificates. */
sealed interface Trust {

  /**
   * The one certificate of the authority that does. Its own dates have not been looked at: the
   * rules of PKIX trust an anchor for ever, but the API server and others do not.
   */
  record By(X509Certificate anchor) implements Trust {}

  /** None of them does. */
  record Nobody(String why) implements Trust {}

  /** Of several that do it is the one that lasts longest. */
  static Trust of(List<X509Certificate> chain, List<X509Certificate> authority, Instant now) {
    List<X509Certificate> path = chain.stream().filter(c -> !authority.contains(c)).toList();
    List<X509Certificate> longestFirst =
        authority.stream()
            .sorted(
                Comparator.comparing((X509Certificate c) -> Validity.of(c, now) == Validity.VALID)
                    .thenComparing(Validity::expires)
                    .reversed())
            .toList();
    Trust found = new Nobody("the CA certificate is empty");
    for (X509Certificate anchor : longestFirst) {
      found = by(anchor, path, now);
      if (found instanceof By) {
        return found;
      }
    }
    return found;
  }

  private static Trust by(X509Certificate anchor, List<X509Certificate> path, Instant now) {
    try {
      var parameters = new PKIXParameters(Set.of(new TrustAnchor(anchor, null)));
      parameters.setRevocationEnabled(false);
      parameters.setDate(Date.from(now));
      CertPathValidator.getInstance("PKIX")
          .validate(CertificateFactory.getInstance("X.509").generateCertPath(path), parameters);
      return new By(anchor);
    } catch (CertPathValidatorException e) {
      return new Nobody(
          "the certificate is not signed by the given CA: %s, %s"
              .formatted(e.getReason(), e.getMessage()));
    } catch (GeneralSecurityException e) {
      return new Nobody("the certificate cannot be verified: " + e.getMessage());
    }
  }
}
