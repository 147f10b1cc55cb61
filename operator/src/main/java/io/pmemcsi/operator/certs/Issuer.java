package io.pmemcsi.operator.certs;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x500.X500NameBuilder;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Issues certificates: a self-signed CA, and the server certificates that it signs. */
final class Issuer {

  /** A certificate and its private key. */
  record Issued(X509Certificate certificate, PrivateKey key) {}

  /** Tolerates clock skew between machines. */
  static final Duration BACKDATED = Duration.ofMinutes(5);

  private final SecureRandom random = new SecureRandom();

  Issued authority(String name, Instant now, Duration validity) {
    KeyPair pair = newKey();
    X500Name subject = subject(name);
    try {
      var builder =
          builder(subject, subject, pair, now, now.plus(validity))
              .addExtension(Extension.basicConstraints, true, new BasicConstraints(0))
              .addExtension(
                  Extension.keyUsage, true, new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign))
              .addExtension(
                  Extension.subjectKeyIdentifier,
                  false,
                  new JcaX509ExtensionUtils().createSubjectKeyIdentifier(pair.getPublic()));
      return new Issued(
          sign((JcaX509v3CertificateBuilder) builder, pair.getPrivate()), pair.getPrivate());
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("cannot issue a CA certificate", e);
    }
  }

  /** With a new key. */
  Issued server(Issued authority, List<String> names, Instant now, Duration validity) {
    return server(authority, names, now, validity, newKey());
  }

  Issued server(
      Issued authority, List<String> names, Instant now, Duration validity, KeyPair pair) {
    Instant end = now.plus(validity);
    Instant caEnd = authority.certificate().getNotAfter().toInstant();
    X500Name issuer =
        X500Name.getInstance(authority.certificate().getSubjectX500Principal().getEncoded());
    try {
      var builder =
          builder(issuer, subject(names.getFirst()), pair, now, end.isAfter(caEnd) ? caEnd : end)
              .addExtension(Extension.basicConstraints, true, new BasicConstraints(false))
              .addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature))
              .addExtension(
                  Extension.extendedKeyUsage,
                  false,
                  new ExtendedKeyUsage(
                      new KeyPurposeId[] {
                        KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth
                      }))
              .addExtension(
                  Extension.authorityKeyIdentifier,
                  false,
                  new JcaX509ExtensionUtils()
                      .createAuthorityKeyIdentifier(authority.certificate().getPublicKey()))
              .addExtension(Extension.subjectAlternativeName, false, alternatives(names));
      return new Issued(
          sign((JcaX509v3CertificateBuilder) builder, authority.key()), pair.getPrivate());
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("cannot issue a server certificate", e);
    }
  }

  private JcaX509v3CertificateBuilder builder(
      X500Name issuer, X500Name subject, KeyPair pair, Instant now, Instant end) {
    return new JcaX509v3CertificateBuilder(
        issuer,
        new BigInteger(63, random).add(BigInteger.ONE),
        Date.from(now.minus(BACKDATED)),
        Date.from(end),
        subject,
        pair.getPublic());
  }

  private static X509Certificate sign(JcaX509v3CertificateBuilder builder, PrivateKey key)
      throws GeneralSecurityException {
    try {
      var signer = new JcaContentSignerBuilder("SHA256withECDSA").build(key);
      return new JcaX509CertificateConverter().getCertificate(builder.build(signer));
    } catch (OperatorCreationException e) {
      throw new GeneralSecurityException(e);
    }
  }

  KeyPair newKey() {
    try {
      var generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"), random);
      return generator.generateKeyPair();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("no elliptic curve keys on this JDK", e);
    }
  }

  private static X500Name subject(String name) {
    // the common name is informational and limited to 64 characters
    String shortened = name.length() > 64 ? name.substring(0, 64) : name;
    return new X500NameBuilder(BCStyle.INSTANCE).addRDN(BCStyle.CN, shortened).build();
  }

  private static GeneralNames alternatives(List<String> names) {
    return new GeneralNames(
        names.stream()
            .map(
                name ->
                    new GeneralName(
                        ServerName.isAddress(name) ? GeneralName.iPAddress : GeneralName.dNSName,
                        name))
            .toArray(GeneralName[]::new));
  }
}
