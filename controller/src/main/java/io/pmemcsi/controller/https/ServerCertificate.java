package io.pmemcsi.controller.https;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.tls.Pkcs8;
import java.io.ByteArrayInputStream;
import java.io.IOException;
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

/** A certificate chain with its key, as read from two PEM files. */
record ServerCertificate(List<X509Certificate> chain, PrivateKey key) {

  private static final Pattern KEY =
      Pattern.compile(
          "-----BEGIN (?<type>[A-Z ]*)PRIVATE KEY-----(?<content>[^-]+)-----END", Pattern.DOTALL);
  private static final byte[] PROBE =
      "signed to compare key and certificate".getBytes(StandardCharsets.US_ASCII);

  /** Reads both files; fails with one line that names the file if they cannot be used together. */
  static ServerCertificate read(Path certificateFile, Path keyFile) throws IOException {
    List<X509Certificate> chain = chain(certificateFile);
    PrivateKey key = key(keyFile, chain.getFirst().getPublicKey());
    if (!belongTogether(chain.getFirst(), key)) {
      throw new IOException(
          "the key in %s does not belong to the certificate in %s"
              .formatted(keyFile, certificateFile));
    }
    return new ServerCertificate(chain, key);
  }

  private static List<X509Certificate> chain(Path file) throws IOException {
    byte[] pem = content(file);
    try {
      List<X509Certificate> chain =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(pem))
              .stream()
              .map(X509Certificate.class::cast)
              .toList();
      if (!chain.isEmpty()) {
        return chain;
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
      throw new IOException("%s has no usable private key".formatted(file), e);
    }
  }

  private static byte[] content(Path file) throws IOException {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new IOException("cannot read %s: %s".formatted(file, Reason.of(e)), e);
    }
  }

  private static boolean belongTogether(X509Certificate certificate, PrivateKey key) {
    try {
      Signature signature =
          Signature.getInstance(
              key.getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA");
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
}
