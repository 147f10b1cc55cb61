package io.pmemcsi.operator.certs;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The CA that signs, and the next one.
 *
 * @param next in the trust bundle, but not signing yet
 */
record AuthorityKeys(Issuer.Issued current, Optional<Issuer.Issued> next) {

  private static final String CURRENT = "ca";
  private static final String NEXT = "next-ca";

  /** From the data of a secret; empty if it is unusable. */
  static Optional<AuthorityKeys> of(Map<String, String> data) {
    return pair(data, CURRENT).map(current -> new AuthorityKeys(current, pair(data, NEXT)));
  }

  Map<String, String> data() {
    var data = new LinkedHashMap<String, String>();
    put(data, CURRENT, current);
    next.ifPresent(issued -> put(data, NEXT, issued));
    return data;
  }

  private static void put(Map<String, String> data, String name, Issuer.Issued issued) {
    data.put(name + ".crt", TlsFiles.encode(Pem.of(issued.certificate())));
    data.put(name + ".key", TlsFiles.encode(Pem.of(issued.key())));
  }

  private static Optional<Issuer.Issued> pair(Map<String, String> data, String name) {
    String certificate = data.get(name + ".crt");
    String key = data.get(name + ".key");
    if (certificate == null || key == null) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          new Issuer.Issued(
              Pem.certificates(name, TlsFiles.decode(name, certificate)).getFirst(),
              Pem.key(name, TlsFiles.decode(name, key))));
    } catch (BadCertificateException e) {
      return Optional.empty();
    }
  }
}
