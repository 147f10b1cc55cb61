package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.api.pmem.TLSMaterial;
import java.util.Optional;

/**
 * The certificates with which the controller runs. There is a controller if and only if there are
 * certificates.
 *
 * @param secretName of the secret that the pod mounts
 * @param caBundle the authority for the webhook configuration, base64-encoded PEM; empty where it
 *     is not known yet or where OpenShift injects it
 * @param issuedByOpenShift whether OpenShift creates the secret and injects the authority
 */
public record ControllerCertificates(
    String secretName, Optional<String> caBundle, boolean issuedByOpenShift) {

  /** In place of the name of a secret: OpenShift issues the certificates. */
  static final String OPENSHIFT = "-openshift-";

  /** Where the TLS material of a resource leads to, without reading the cluster. */
  public static Optional<ControllerCertificates> of(TLSMaterial material, PmemNames names) {
    return switch (material) {
      case TLSMaterial.None() -> Optional.empty();
      case TLSMaterial.NamedSecret(String name) when name.equals(OPENSHIFT) ->
          Optional.of(new ControllerCertificates(names.openshiftSecret(), Optional.empty(), true));
      case TLSMaterial.NamedSecret(String name) ->
          Optional.of(new ControllerCertificates(name, Optional.empty(), false));
      case TLSMaterial.Inline inline ->
          Optional.of(
              new ControllerCertificates(
                  names.controllerSecret(), Optional.of(inline.caCert()), false));
      case TLSMaterial.Managed _ ->
          Optional.of(
              new ControllerCertificates(names.controllerSecret(), Optional.empty(), false));
    };
  }

  ControllerCertificates withBundle(String bundle) {
    return new ControllerCertificates(secretName, Optional.of(bundle), issuedByOpenShift);
  }
}
