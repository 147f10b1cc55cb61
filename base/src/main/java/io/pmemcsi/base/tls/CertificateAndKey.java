package io.pmemcsi.base.tls;

import io.pmemcsi.base.error.Reason;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A certificate chain with its private key, as read from two PEM files. */
public record CertificateAndKey(List<X509Certificate> chain, PrivateKey key) {

  private static final Pattern KEY =
      Pattern.compile(
          "-----BEGIN (?<type>[A-Z ]*)PRIVATE KEY-----(?<content>[^-]+)-----END", Pattern.DOTALL);

  /** As much as a secret can hold. */
  private static final int MOST_BYTES = 1 << 20;

  private static final byte[] PROBE =
      "signed to compare key and certificate".getBytes(StandardCharsets.US_ASCII);

  public CertificateAndKey {
    chain = List.copyOf(chain);
  }

  /** Reads both files; fails with one line that names the file if they cannot be used together. */
  public static CertificateAndKey read(Path certificateFile, Path keyFile) throws IOException {
    List<X509Certificate> chain = certificates(certificateFile);
    PrivateKey key = key(keyFile, chain.getFirst().getPublicKey());
    if (!belongTogether(chain.getFirst(), key)) {
      throw new IOException(
          "the key in %s does not belong to the certificate in %s"
              .formatted(keyFile, certificateFile));
    }
    return new CertificateAndKey(chain, key);
  }

  /** Reads all certificates in a PEM file; at least one. */
  public static List<X509Certificate> certificates(Path file) throws IOException {
    byte[] pem = content(file);
    try {
      List<X509Certificate> all =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (!all.isEmpty()) {
        return all;
      }
    } catch (GeneralSecurityException e) {
      throw new IOException("%s has no certificate in PEM format".formatted(file), e);
    }
    throw new IOException("%s has no certificate in PEM format".formatted(file));
  }

  private static PrivateKey key(Path file, PublicKey certified) throws IOException {
    Matcher pem = KEY.matcher(new String(content(file), StandardCharsets.US_ASCII));
    if (!pem.find()) {
      throw new IOException("%s has no private key in PEM format".formatted(file));
    }
    try {
      byte[] content = Base64.getMimeDecoder().decode(pem.group("content"));
      byte[] encoded =
          switch (pem.group("type").strip()) {
            case "" -> content;
            case "RSA", "EC" -> Pkcs8.wrap(content, certified);
            default ->
                throw new IOException(
                    "%s has a key of type \"%s\": use one without password in PKCS#8, PKCS#1 or SEC1"
                        .formatted(file, pem.group("type").strip()));
          };
      return KeyFactory.getInstance(certified.getAlgorithm())
          .generatePrivate(new PKCS8EncodedKeySpec(encoded));
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      // without the cause: its message may hold parts of the key
      throw new IOException("%s has no usable private key".formatted(file));
    }
  }

  /** The content of a file with certificates or a key; fails with one line that names the file. */
  public static byte[] content(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new IOException("it is larger than %d KiB".formatted(MOST_BYTES / 1024));
      }
      return bytes;
    } catch (IOException e) {
      throw new IOException("cannot read %s: %s".formatted(file, Reason.of(e)), e);
    }
  }

  /** Whether a key is the one that the certificate is for. */
  public static boolean belongTogether(X509Certificate certificate, PrivateKey key) {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC", "ECDSA" -> "SHA256withECDSA";
          // such as EdDSA, which has a hash of its own
          default -> key.getAlgorithm();
        };
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(PROBE);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(PROBE);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  /** Never shows the key. */
  @Override
  public String toString() {
    return "CertificateAndKey[" + chain.getFirst().getSubjectX500Principal() + "]";
  }
}
