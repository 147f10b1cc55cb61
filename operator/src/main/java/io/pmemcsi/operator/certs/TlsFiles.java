package io.pmemcsi.operator.certs;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The TLS files of a server, as PEM.
 *
 * @param authority the CA certificates
 */
public record TlsFiles(String authority, String certificate, String key) {

  /** The keys of a secret of type {@code kubernetes.io/tls}. */
  public static final String AUTHORITY = "ca.crt";

  public static final String CERTIFICATE = "tls.crt";
  public static final String KEY = "tls.key";

  /**
   * From the data of a secret.
   *
   * @throws BadCertificateException for the first key that is missing
   */
  public static TlsFiles of(String secret, Map<String, String> data) {
    return new TlsFiles(
        entry(secret, data, AUTHORITY), entry(secret, data, CERTIFICATE), entry(secret, data, KEY));
  }

  /** As {@link #of}, but empty if anything is missing. */
  static Optional<TlsFiles> ifComplete(Map<String, String> data) {
    try {
      return Optional.of(of("", data));
    } catch (BadCertificateException e) {
      return Optional.empty();
    }
  }

  /**
   * From base64-encoded PEM in the fields of a resource.
   *
   * @param prefix of the fields' names, before Cert and Key
   */
  public static TlsFiles decode(String prefix, String authority, String certificate, String key) {
    return new TlsFiles(
        decode("caCert", authority),
        decode(prefix + "Cert", certificate),
        decode(prefix + "Key", key));
  }

  /** The data of a secret. */
  public Map<String, String> data() {
    var data = new LinkedHashMap<String, String>();
    data.put(AUTHORITY, encode(authority));
    data.put(CERTIFICATE, encode(certificate));
    data.put(KEY, encode(key));
    return data;
  }

  public static String encode(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  static String decode(String what, String base64) {
    try {
      return new String(Base64.getMimeDecoder().decode(base64), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new BadCertificateException(what + " is not base64-encoded", e);
    }
  }

  private static String entry(String secret, Map<String, String> data, String name) {
    String value = data.get(name);
    if (value == null || value.isEmpty()) {
      throw new BadCertificateException(
          "secret \"%s\" has no %s: it must hold %s, %s and %s"
              .formatted(secret, name, AUTHORITY, CERTIFICATE, KEY));
    }
    return decode(name + " of secret \"" + secret + "\"", value);
  }
}
