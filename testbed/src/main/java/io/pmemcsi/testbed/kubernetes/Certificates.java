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
  private static final Duration BACKDATED = Duration.ofHours(1);
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String SIGNATURE = "SHA256withECDSA";

  private final KeyPair key;
  private final X509Certificate certificate;

  /** Makes a new authority. */
  public Certificates(String name) {
    this(name, Instant.now().minus(BACKDATED), Instant.now().plus(VALID));
  }

  /** Makes a new authority with these dates; what it issues has the usual ones. */
  public Certificates(String name, Instant from, Instant until) {
    try {
      this.key = newKey();
      X500Name subject = new X500Name("CN=" + name);
      this.certificate = authority(subject, subject, key, from, until, key);
    } catch (GeneralSecurityException | CertIOException | OperatorCreationException e) {
      throw new IllegalStateException("cannot make a certificate authority", e);
    }
  }

  private Certificates(KeyPair key, X509Certificate certificate) {
    this.key = key;
    this.certificate = certificate;
  }

  /** The same authority, with the same key, with a certificate that has other dates. */
  public Certificates renewed(Instant from, Instant until) {
    return signedBy(this, certificate.getSubjectX500Principal().getName(), key, from, until);
  }

  /** An authority for which this one vouches. */
  public Certificates intermediate(String name, Instant from, Instant until) {
    try {
      return signedBy(this, "CN=" + name, newKey(), from, until);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot make a key", e);
    }
  }

  private static Certificates signedBy(
      Certificates signer, String subject, KeyPair key, Instant from, Instant until) {
    try {
      return new Certificates(
          key, authority(signer.subject(), new X500Name(subject), key, from, until, signer.key));
    } catch (GeneralSecurityException | CertIOException | OperatorCreationException e) {
      throw new IllegalStateException("cannot make a certificate for " + subject, e);
    }
  }

  private X500Name subject() {
    return new X500Name(certificate.getSubjectX500Principal().getName());
  }

  private static X509Certificate authority(
      X500Name issuer, X500Name subject, KeyPair own, Instant from, Instant until, KeyPair signer)
      throws GeneralSecurityException, CertIOException, OperatorCreationException {
    X509v3CertificateBuilder builder = builder(issuer, subject, own, from, until);
    builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
    builder.addExtension(
        Extension.keyUsage,
        true,
        new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign | KeyUsage.digitalSignature));
    return sign(builder, signer);
  }

  /**
   * Issues a certificate for clients and servers on loopback.
   *
   * @param subject for example {@code O=system:masters,CN=admin}
   * @param names further names or IPv4 addresses of the server
   */
  public Issued issue(String subject, String... names) {
    return issue(subject, Instant.now().minus(BACKDATED), Instant.now().plus(VALID), names);
  }

  /** The same with an RSA key, the only kind that each client library reads. */
  public Issued issueWithRsaKey(String subject) {
    try {
      return issue(
          KeyPairGenerator.getInstance("RSA").generateKeyPair(),
          subject,
          Instant.now().minus(BACKDATED),
          Instant.now().plus(VALID));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot make a key", e);
    }
  }

  /** The same with these dates. */
  public Issued issue(String subject, Instant from, Instant until, String... names) {
    try {
      return issue(newKey(), subject, from, until, names);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot make a key", e);
    }
  }

  private Issued issue(KeyPair own, String subject, Instant from, Instant until, String... names) {
    try {
      X509v3CertificateBuilder builder =
          builder(subject(), new X500Name(subject), own, from, until);
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
                          .map(Certificates::generalName))
                  .toArray(GeneralName[]::new)));
      return new Issued(sign(builder, key), own);
    } catch (GeneralSecurityException | CertIOException | OperatorCreationException e) {
      throw new IllegalStateException("cannot issue a certificate for " + subject, e);
    }
  }

  private static GeneralName generalName(String name) {
    boolean address = name.matches("[0-9.]+");
    return new GeneralName(address ? GeneralName.iPAddress : GeneralName.dNSName, name);
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
    void write(Path directory, String name) {
      try {
        Files.writeString(directory.resolve(name + ".crt"), certificatePem());
        Files.writeString(directory.resolve(name + ".key"), keyPem());
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

  private static X509v3CertificateBuilder builder(
      X500Name issuer, X500Name subject, KeyPair key, Instant from, Instant until) {
    return new JcaX509v3CertificateBuilder(
        issuer,
        new BigInteger(64, RANDOM),
        Date.from(from),
        Date.from(until),
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
