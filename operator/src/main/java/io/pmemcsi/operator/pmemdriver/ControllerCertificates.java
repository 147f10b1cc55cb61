package io.pmemcsi.operator.pmemdriver;

import io.pmemcsi.api.pmem.TLSMaterial;
import io.pmemcsi.operator.certs.CaTransition;
import java.time.Instant;
import java.util.Optional;

/**
 * The certificates with which the controller runs. There is a controller if and only if there are
 * certificates.
 *
 * @param secretName of the secret that the pod mounts
 * @param caBundle the authority for the webhook configuration, base64-encoded PEM; empty where it
 *     is not known yet or where OpenShift injects it
 * @param issuedByOpenShift whether OpenShift creates the secret and injects the authority
 * @param webhookService the service through which the API server calls the webhook, one for whose
 *     name the certificate is valid; empty if there is none
 * @param previousTrustedUntil when the previous authority leaves the bundle; empty if there is none
 * @param ignoredUntil until when pods must not depend on the webhook, because the controller may
 *     still serve a certificate that cannot be used
 */
public record ControllerCertificates(
    String secretName,
    Optional<String> caBundle,
    boolean issuedByOpenShift,
    Optional<String> webhookService,
    Optional<Instant> previousTrustedUntil,
    Optional<Instant> ignoredUntil) {

  /** In place of the name of a secret: OpenShift issues the certificates. */
  static final String OPENSHIFT = "-openshift-";

  /** Where the TLS material of a resource leads to, without reading the cluster. */
  public static Optional<ControllerCertificates> of(TLSMaterial material, PmemNames names) {
    return switch (material) {
      case TLSMaterial.None() -> Optional.empty();
      case TLSMaterial.NamedSecret(String name) when name.equals(OPENSHIFT) ->
          Optional.of(assumed(names.openshiftSecret(), Optional.empty(), true, names));
      case TLSMaterial.NamedSecret(String name) ->
          Optional.of(assumed(name, Optional.empty(), false, names));
      case TLSMaterial.Inline inline ->
          Optional.of(
              assumed(names.controllerSecret(), Optional.of(inline.caCert()), false, names));
      case TLSMaterial.Managed _ ->
          Optional.of(assumed(names.controllerSecret(), Optional.empty(), false, names));
    };
  }

  private static ControllerCertificates assumed(
      String secretName, Optional<String> caBundle, boolean issuedByOpenShift, PmemNames names) {
    return new ControllerCertificates(
        secretName,
        caBundle,
        issuedByOpenShift,
        Optional.of(names.webhookService()),
        Optional.empty(),
        Optional.empty());
  }

  ControllerCertificates withBundle(String bundle) {
    return new ControllerCertificates(
        secretName,
        Optional.of(bundle),
        issuedByOpenShift,
        webhookService,
        previousTrustedUntil,
        ignoredUntil);
  }

  ControllerCertificates calledThrough(Optional<String> service) {
    return new ControllerCertificates(
        secretName, caBundle, issuedByOpenShift, service, previousTrustedUntil, ignoredUntil);
  }

  ControllerCertificates trusting(CaTransition transition) {
    return new ControllerCertificates(
        secretName,
        Optional.of(transition.bundle()),
        issuedByOpenShift,
        webhookService,
        transition.until(),
        ignoredUntil);
  }

  ControllerCertificates ignored(Optional<Instant> until) {
    return new ControllerCertificates(
        secretName, caBundle, issuedByOpenShift, webhookService, previousTrustedUntil, until);
  }

  /** Whether the API server can call the webhook by a name for which its certificate is valid. */
  public boolean isUsable() {
    return webhookService.isPresent() && ignoredUntil.isEmpty();
  }
}
