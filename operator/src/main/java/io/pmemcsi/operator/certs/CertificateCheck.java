package io.pmemcsi.operator.certs;

import static java.util.Comparator.naturalOrder;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
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
 * Whether a server with these files will be believed.
 *
 * @param broken what keeps every client from connecting
 * @param missingNames names by which the server is called but which its certificate does not have
 * @param expires when the first certificate runs out on the way from the server's to the CA's
 * @param begins when the last one becomes valid of those that are not valid yet
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
   * Checks key, dates, chain and names.
   *
   * @throws BadCertificateException if one of the files cannot be read at all
   */
  public static CertificateCheck of(TlsFiles files, List<String> names, Instant now) {
    List<X509Certificate> authority = Pem.certificates("the CA certificate", files.authority());
    List<X509Certificate> chain = Pem.certificates("the certificate", files.certificate());
    PrivateKey key = Pem.key("the key", files.key());
    X509Certificate leaf = chain.getFirst();
    var broken = new ArrayList<String>();
    if (!belongTogether(leaf.getPublicKey(), key)) {
      broken.add("the key does not belong to the certificate");
    }
    var dated = new ArrayList<>(List.of(leaf));
    Validity.problem("the certificate", "replace it", leaf, now).ifPresent(broken::add);
    for (X509Certificate between : chain.subList(1, chain.size())) {
      if (!authority.contains(between)) {
        dated.add(between);
        Validity.problem(
                "the intermediate certificate \"%s\"".formatted(subject(between)),
                "replace it",
                between,
                now)
            .ifPresent(broken::add);
      }
    }
    if (broken.isEmpty()) {
      switch (Trust.of(chain, authority, now)) {
        case Trust.Nobody(String why) -> broken.add(why);
        case Trust.By(X509Certificate anchor) -> {
          dated.add(anchor);
          Validity.problem(
                  "the CA certificate \"%s\"".formatted(subject(anchor)),
                  "replace it, and what it has signed",
                  anchor,
                  now)
              .ifPresent(broken::add);
        }
      }
    }
    Set<String> has = names(leaf);
    List<String> missing = names.stream().filter(name -> !covered(name, has)).toList();
    return new CertificateCheck(
        broken,
        missing,
        dated.stream().map(Validity::expires).min(naturalOrder()).orElseThrow(),
        dated.stream().map(Validity::begins).filter(now::isBefore).max(naturalOrder()));
  }

  private static String subject(X509Certificate certificate) {
    return certificate.getSubjectX500Principal().getName();
  }

  private static boolean belongTogether(PublicKey certified, PrivateKey key) {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC", "ECDSA" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    try {
      byte[] text =
          "a text that only the owner of the key can sign".getBytes(StandardCharsets.UTF_8);
      var signer = Signature.getInstance(algorithm);
      signer.initSign(key);
      signer.update(text);
      byte[] signature = signer.sign();
      var verifier = Signature.getInstance(algorithm);
      verifier.initVerify(certified);
      verifier.update(text);
      return verifier.verify(signature);
    } catch (GeneralSecurityException e) {
      return false;
    }
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

  private static boolean covered(String name, Set<String> has) {
    int dot = name.indexOf('.');
    return has.contains(ServerName.canonical(name))
        || (dot > 0 && has.contains("*" + name.substring(dot).toLowerCase(Locale.ROOT)));
  }
}
