package io.pmemcsi.testbed.kubernetes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.stream.Stream;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A certificate authority of a test's own, on loopback: for the control plane, and for webhooks
 * that tests serve themselves.
 */
public final class Certificates {

  private static final Duration VALID = Duration.ofDays(7);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String SIGNATURE = "SHA256withECDSA";

  private final KeyPair key;
  private final X509Certificate certificate;

  /** Makes a new authority. */
  public Certificates(String name) {
    try {
      this.key = newKey();
      X500Name subject = new X500Name("CN=" + name);
      X509v3CertificateBuilder builder = builder(subject, subject, key);
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
      builder.addExtension(
          Extension.keyUsage,
          true,
          new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign | KeyUsage.digitalSignature));
      this.certificate = sign(builder, key);
    } catch (GeneralSecurityException | CertIOException | OperatorCreationException e) {
      throw new IllegalStateException("cannot make a certificate authority", e);
    }
  }

  /**
   * Issues a certificate for clients and servers on loopback.
   *
   * @param subject for example {@code O=system:masters,CN=admin}
   * @param names further names of the server
   */
  public Issued issue(String subject, String... names) {
    try {
      KeyPair own = newKey();
      X509v3CertificateBuilder builder =
          builder(
              new X500Name(certificate.getSubjectX500Principal().getName()),
              new X500Name(subject),
              own);
      builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
      builder.addExtension(
          Extension.keyUsage,
          true,
          new KeyUsage(KeyUsage.digitalSignature | KeyUsage.keyEncipherment));
      builder.addExtension(
          Extension.extendedKeyUsage,
          false,
          new ExtendedKeyUsage(
              new KeyPurposeId[] {KeyPurposeId.id_kp_clientAuth, KeyPurposeId.id_kp_serverAuth}));
      builder.addExtension(
          Extension.subjectAlternativeName,
          false,
          new GeneralNames(
              Stream.concat(
                      Stream.of(new GeneralName(GeneralName.iPAddress, "127.0.0.1")),
                      Stream.concat(
                              Stream.of("localhost", "kubernetes.default.svc"), Stream.of(names))
                          .map(name -> new GeneralName(GeneralName.dNSName, name)))
                  .toArray(GeneralName[]::new)));
      return new Issued(sign(builder, key), own);
    } catch (GeneralSecurityException | CertIOException | OperatorCreationException e) {
      throw new IllegalStateException("cannot issue a certificate for " + subject, e);
    }
  }

  /** The authority's own certificate, as text. */
  public String authorityPem() {
    return pem("CERTIFICATE", encoded(certificate));
  }

  String authorityKeyPem() {
    return pem("PRIVATE KEY", key.getPrivate().getEncoded());
  }

  public X509Certificate authority() {
    return certificate;
  }

  /** A certificate with its key. */
  public record Issued(X509Certificate certificate, KeyPair key) {

    public String certificatePem() {
      return pem("CERTIFICATE", encoded(certificate));
    }

    public String keyPem() {
      return pem("PRIVATE KEY", key.getPrivate().getEncoded());
    }

    String publicKeyPem() {
      return pem("PUBLIC KEY", key.getPublic().getEncoded());
    }

    /** Writes {@code name.crt} and {@code name.key}. */
    void write(Path folder, String name) {
      try {
        Files.writeString(folder.resolve(name + ".crt"), certificatePem());
        Files.writeString(folder.resolve(name + ".key"), keyPem());
      } catch (IOException e) {
        throw new UncheckedIOException("cannot write a certificate", e);
      }
    }
  }

  private static KeyPair newKey() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"));
    return generator.generateKeyPair();
  }

  private static X509v3CertificateBuilder builder(X500Name issuer, X500Name subject, KeyPair key) {
    Instant now = Instant.now();
    return new JcaX509v3CertificateBuilder(
        issuer,
        new BigInteger(64, RANDOM),
        Date.from(now.minus(Duration.ofHours(1))),
        Date.from(now.plus(VALID)),
        subject,
        key.getPublic());
  }

  private static X509Certificate sign(X509v3CertificateBuilder builder, KeyPair key)
      throws GeneralSecurityException, OperatorCreationException {
    return new JcaX509CertificateConverter()
        .getCertificate(
            builder.build(new JcaContentSignerBuilder(SIGNATURE).build(key.getPrivate())));
  }

  private static byte[] encoded(X509Certificate certificate) {
    try {
      return certificate.getEncoded();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot encode a certificate", e);
    }
  }

  private static String pem(String type, byte[] content) {
    return "-----BEGIN %s-----%n%s%n-----END %s-----%n"
        .formatted(type, Base64.getMimeEncoder().encodeToString(content), type);
  }
}
