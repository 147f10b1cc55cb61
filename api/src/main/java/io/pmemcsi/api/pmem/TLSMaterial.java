package io.pmemcsi.api.pmem;

/** Where the certificates of a controller come from; without any, there is no controller. */
public sealed interface TLSMaterial {

  /** No certificates, no controller. */
  record None() implements TLSMaterial {}

  /** The user's own secret in the operator's namespace. */
  record NamedSecret(String name) implements TLSMaterial {}

  /** Certificates that stand in the resource itself, as base64-encoded PEM. */
  record Inline(String caCert, String cert, String key) implements TLSMaterial {}

  /** Certificates that the operator issues and renews. */
  record Managed(ControllerTLS options) implements TLSMaterial {}
}
