package io.pmemcsi.operator;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.pmemcsi.testbed.kubernetes.Certificates;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/** Secrets with certificates, as an administrator makes them. */
final class TlsSecrets {

  private TlsSecrets() {}

  /** A certificate for no name in particular, with its authority. */
  static Secret of(String namespace, String name, Certificates authority) {
    var issued = authority.issue("CN=controller");
    return new SecretBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace(namespace)
        .endMetadata()
        .withType("kubernetes.io/tls")
        .withData(
            Map.of(
                "ca.crt", encoded(authority.authorityPem()),
                "tls.crt", encoded(issued.certificatePem()),
                "tls.key", encoded(issued.keyPem())))
        .build();
  }

  /** The same for these names, as it stands in a PmemCSIDeployment. */
  static String inline(Certificates authority, String... names) {
    return "caCert: %s, ".formatted(encoded(authority.authorityPem()))
        + pair("registry", authority.issue("CN=controller", names));
  }

  /** The two fields for a certificate and its key. */
  static String pair(String prefix, Certificates.Issued issued) {
    return "%sCert: %s, %sKey: %s"
        .formatted(prefix, encoded(issued.certificatePem()), prefix, encoded(issued.keyPem()));
  }

  static String encoded(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  static String decoded(String base64) {
    return new String(Base64.getDecoder().decode(base64), StandardCharsets.UTF_8);
  }
}
