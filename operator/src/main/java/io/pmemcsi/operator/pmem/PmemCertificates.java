package io.pmemcsi.operator.pmem;

import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.pmem.TLSMaterial;
import java.util.Optional;

/**
 * From the TLS material that a resource names to the certificates with which its controller runs.
 */
public final class PmemCertificates {

  /** In place of a secret's name: OpenShift shall make the certificates. */
  static final String OPENSHIFT = "-openshift-";

  private PmemCertificates() {}

  /** As far as can be told without looking at a cluster. */
  public static Optional<ControllerCertificates> assumed(
      PmemSettings settings, TLSMaterial material) {
    var names = new PmemNames(settings.driver());
    return switch (material) {
      case TLSMaterial.None() -> Optional.empty();
      case TLSMaterial.NamedSecret(String name) when name.equals(OPENSHIFT) ->
          Optional.of(new ControllerCertificates(names.openshiftSecret(), Optional.empty(), true));
      case TLSMaterial.NamedSecret(String name) ->
          Optional.of(new ControllerCertificates(name, Optional.empty(), false));
      case TLSMaterial.Inline(String caCert, String cert, String key) ->
          Optional.of(
              new ControllerCertificates(names.controllerSecret(), Optional.of(caCert), false));
      case TLSMaterial.Managed managed ->
          Optional.of(
              new ControllerCertificates(names.controllerSecret(), Optional.empty(), false));
    };
  }
}
