package io.pmemcsi.operator.certs;

import static java.util.Comparator.naturalOrder;

import io.pmemcsi.base.tls.CertificateAndKey;
import java.security.PrivateKey;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * Whether clients can trust a server with these files.
 *
 * @param broken what makes every connection fail
 * @param missingNames names of the server that its certificate does not cover
 * @param expires when the first certificate of the chain expires, including the CA
 * @param begins when the chain becomes valid, if it is not valid yet
 */
public record CertificateCheck(
    List<String> broken, List<String> missingNames, Instant expires, Optional<Instant> begins) {

  private static final int DNS_NAME = 2;
  private static final int IP_ADDRESS = 7;

  public CertificateCheck {
    broken = List.copyOf(broken);
    missingNames = List.copyOf(missingNames);
  }

  /**
   * Checks key, validity, chain and names.
   *
   * @throws BadCertificateException if a file cannot be read
   */
  public static CertificateCheck of(TlsFiles files, List<String> names, Instant now) {
    List<X509Certificate> authority = Pem.certificates("the CA certificate", files.authority());
    List<X509Certificate> chain = Pem.certificates("the certificate", files.certificate());
    PrivateKey key = Pem.key("the key", files.key());
    X509Certificate leaf = chain.getFirst();
    var broken = new ArrayList<String>();
    if (!CertificateAndKey.belongTogether(leaf, key)) {
      broken.add("the key does not belong to the certificate");
    }
    var certificates = new ArrayList<>(List.of(leaf));
    Validity.problem("the certificate", "replace it", leaf, now).ifPresent(broken::add);
    for (X509Certificate intermediate : chain.subList(1, chain.size())) {
      if (!authority.contains(intermediate)) {
        certificates.add(intermediate);
        Validity.problem(
                "the intermediate certificate \"%s\"".formatted(subject(intermediate)),
                "replace it",
                intermediate,
                now)
            .ifPresent(broken::add);
      }
    }
    if (broken.isEmpty()) {
      switch (Trust.of(chain, authority, now)) {
        case Trust.Untrusted(String reason) -> broken.add(reason);
        case Trust.TrustedBy(X509Certificate anchor) -> {
          certificates.add(anchor);
          Validity.problem(
                  "the CA certificate \"%s\"".formatted(subject(anchor)),
                  "replace it, and what it has signed",
                  anchor,
                  now)
              .ifPresent(broken::add);
        }
      }
    }
    Set<String> covered = names(leaf);
    List<String> missing = names.stream().filter(name -> !covers(covered, name)).toList();
    return new CertificateCheck(
        broken,
        missing,
        certificates.stream().map(Validity::expires).min(naturalOrder()).orElseThrow(),
        certificates.stream().map(Validity::begins).filter(now::isBefore).max(naturalOrder()));
  }

  private static String subject(X509Certificate certificate) {
    return certificate.getSubjectX500Principal().getName();
  }

  static Set<String> names(X509Certificate certificate) {
    var names = new HashSet<String>();
    try {
      if (certificate.getSubjectAlternativeNames() != null) {
        for (List<?> name : certificate.getSubjectAlternativeNames()) {
          String value = String.valueOf(name.get(1));
          if (name.get(0).equals(DNS_NAME)) {
            names.add(value.toLowerCase(Locale.ROOT));
          } else if (name.get(0).equals(IP_ADDRESS)) {
            names.add(ServerName.canonical(value));
          }
        }
      }
    } catch (CertificateParsingException e) {
      throw new BadCertificateException("the certificate has unreadable names", e);
    }
    return names;
  }

  private static boolean covers(Set<String> covered, String name) {
    int dot = name.indexOf('.');
    return covered.contains(ServerName.canonical(name))
        || (dot > 0 && covered.contains("*" + name.substring(dot).toLowerCase(Locale.ROOT)));
  }
}
