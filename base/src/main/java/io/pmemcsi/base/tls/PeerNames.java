package io.pmemcsi.base.tls;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;

/** The names of a peer of central provisioning in its certificate. */
public final class PeerNames {

  private static final int DNS_NAME = 2;

  private PeerNames() {}

  /**
   * The DNS names; the common name only where a certificate has none, as those that the 0.7 release
   * issued.
   */
  public static List<String> of(X509Certificate certificate) {
    List<String> names = dnsNames(certificate);
    return names.isEmpty() ? commonName(certificate).stream().toList() : names;
  }

  private static List<String> dnsNames(X509Certificate certificate) {
    try {
      Collection<List<?>> all = certificate.getSubjectAlternativeNames();
      return all == null
          ? List.of()
          : all.stream()
              .filter(name -> name.getFirst().equals(DNS_NAME))
              .map(name -> (String) name.get(1))
              .toList();
    } catch (CertificateParsingException e) {
      return List.of("names that cannot be read");
    }
  }

  private static Optional<String> commonName(X509Certificate certificate) {
    try {
      return new LdapName(certificate.getSubjectX500Principal().getName())
          .getRdns().stream()
              .filter(part -> part.getType().equalsIgnoreCase("CN"))
              .map(part -> part.getValue().toString())
              .findFirst();
    } catch (InvalidNameException e) {
      return Optional.empty();
    }
  }
}
