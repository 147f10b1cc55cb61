package io.pmemcsi.operator.certs;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateParsingException;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Whether a server with these files will be believed.
 *
 * @param broken what keeps every client from connecting
 * @param missingNames names by which the server is called but which its certificate does not have
 * @param expires when the server's certificate runs out
 */
public record CertificateCheck(List<String> broken, List<String> missingNames, Instant expires) {

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
    dates(leaf, now).ifPresent(broken::add);
    if (broken.isEmpty()) {
      chain(authority, chain, now).ifPresent(broken::add);
    }
    Set<String> has = names(leaf);
    List<String> missing = names.stream().filter(name -> !covered(name, has)).toList();
    return new CertificateCheck(broken, missing, leaf.getNotAfter().toInstant());
  }

  private static Optional<String> dates(X509Certificate certificate, Instant now) {
    if (now.isAfter(certificate.getNotAfter().toInstant())) {
      return Optional.of(
          "the certificate ran out on %s: replace it"
              .formatted(certificate.getNotAfter().toInstant()));
    }
    if (now.isBefore(certificate.getNotBefore().toInstant())) {
      return Optional.of(
          "the certificate is not valid before %s"
              .formatted(certificate.getNotBefore().toInstant()));
    }
    return Optional.empty();
  }

  private static Optional<String> chain(
      List<X509Certificate> authority, List<X509Certificate> chain, Instant now) {
    try {
      Set<TrustAnchor> anchors =
          authority.stream()
              .map(certificate -> new TrustAnchor(certificate, null))
              .collect(Collectors.toSet());
      var parameters = new PKIXParameters(anchors);
      parameters.setRevocationEnabled(false);
      parameters.setDate(Date.from(now));
      var path =
          CertificateFactory.getInstance("X.509")
              .generateCertPath(chain.stream().filter(c -> !authority.contains(c)).toList());
      CertPathValidator.getInstance("PKIX").validate(path, parameters);
      return Optional.empty();
    } catch (CertPathValidatorException e) {
      return Optional.of(
          "the certificate is not signed by the given CA: " + e.getReason() + ", " + reason(e));
    } catch (GeneralSecurityException e) {
      return Optional.of("the certificate cannot be verified: " + e.getMessage());
    }
  }

  private static String reason(CertPathValidatorException e) {
    return String.valueOf(e.getMessage());
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
          if (name.get(0).equals(DNS_NAME) || name.get(0).equals(IP_ADDRESS)) {
            names.add(String.valueOf(name.get(1)).toLowerCase(Locale.ROOT));
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
    return has.contains(name.toLowerCase(Locale.ROOT))
        || (dot > 0 && has.contains("*" + name.substring(dot).toLowerCase(Locale.ROOT)));
  }
}
