package io.pmemcsi.operator.certs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.PrivateKey;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;

/** Certificates and keys in PEM format. */
final class Pem {

  private static final Base64.Encoder LINES =
      Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));

  private Pem() {}

  /** All certificates of a file; fails if there is none. */
  static List<X509Certificate> certificates(String what, String pem) {
    try {
      Collection<X509Certificate> found =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem.getBytes(StandardCharsets.UTF_8)))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (found.isEmpty()) {
        throw new BadCertificateException(what + " holds no certificate");
      }
      return List.copyOf(found);
    } catch (CertificateException e) {
      throw new BadCertificateException(what + " is not a certificate in PEM format", e);
    }
  }

  /** The private key of a file: PKCS#8, or the older formats of OpenSSL. */
  static PrivateKey key(String what, String pem) {
    try (var parser = new PEMParser(new StringReader(pem))) {
      var converter = new JcaPEMKeyConverter();
      for (Object part = parser.readObject(); part != null; part = parser.readObject()) {
        if (part instanceof PEMKeyPair pair) {
          return converter.getPrivateKey(pair.getPrivateKeyInfo());
        }
        if (part instanceof PrivateKeyInfo info) {
          return converter.getPrivateKey(info);
        }
      }
    } catch (IOException e) {
      throw new BadCertificateException(what + " is not a private key in PEM format", e);
    }
    throw new BadCertificateException(what + " holds no private key");
  }

  static String of(List<X509Certificate> certificates) {
    return certificates.stream().map(Pem::of).collect(Collectors.joining());
  }

  static String of(X509Certificate certificate) {
    try {
      return block("CERTIFICATE", certificate.getEncoded());
    } catch (CertificateEncodingException e) {
      throw new IllegalStateException(e);
    }
  }

  static String of(PrivateKey key) {
    return block("PRIVATE KEY", key.getEncoded());
  }

  private static String block(String type, byte[] content) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(type, LINES.encodeToString(content), type);
  }
}
