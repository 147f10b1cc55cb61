package io.pmemcsi.api.legacy;

import java.util.Optional;

/** Where the certificates for the mutual TLS between the controller and the nodes come from. */
public sealed interface Certificates {

  /** The user's own, as base64-encoded PEM. */
  record Given(
      String caCert,
      String registryCert,
      String registryKey,
      String nodeControllerCert,
      String nodeControllerKey)
      implements Certificates {}

  /** Issued by the operator, for the user's keys where there are any. */
  record Issued(KeySource registry, KeySource nodeController) implements Certificates {}

  /** A private key to issue a certificate for. */
  sealed interface KeySource {
    /** The user's key, as base64-encoded PEM. */
    record Given(String key) implements KeySource {}

    /** A new key. */
    record New() implements KeySource {}

    /** The user's key, or a new one. */
    static KeySource of(Optional<String> key) {
      return key.<KeySource>map(Given::new).orElseGet(New::new);
    }
  }
}
