package io.pmemcsi.api.legacy;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.ComputeResources;
import io.pmemcsi.api.SharedRules;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.schema.StructuralSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds everything in a {@link LegacyDeployment} that cannot be carried out, whatever the server
 * has let through: the schema of the CRD, its rules in CEL, and what neither can express.
 */
public final class LegacyDeploymentChecks {

  static final String AUTHORITY_CEL =
      "has(self.caCert) || !(has(self.registryCert) || has(self.nodeControllerCert))";
  static final String AUTHORITY =
      "certificates are given without their authority: set caCert as well, or leave registryCert"
          + " and nodeControllerCert to the operator";

  static final String ALL_CERTIFICATES_CEL =
      "!has(self.caCert) || (has(self.registryCert) && has(self.registryKey)"
          + " && has(self.nodeControllerCert) && has(self.nodeControllerKey))";
  static final String ALL_CERTIFICATES =
      "certificates are incomplete: caCert needs all of registryCert, registryKey,"
          + " nodeControllerCert and nodeControllerKey";

  static final String NAME_START_CEL = "self.metadata.name.matches('^[a-z]')";
  static final String NAME_START =
      "the name does not start with a letter, as the controller's service needs it: choose another";

  private static final KubernetesSerialization JSON = new KubernetesSerialization();
  private static final StructuralSchema SCHEMA = StructuralSchema.of(LegacyDeployment.class);

  private LegacyDeploymentChecks() {}

  /** All violations of a resource; with none it can be turned into {@link LegacySettings}. */
  public static List<Violation> check(LegacyDeployment resource) {
    JsonNode json = JSON.convertValue(resource, JsonNode.class);
    List<Violation> found = new ArrayList<>(SCHEMA.violations(json));
    found.addAll(ComputeResources.check(json));
    LegacyDeploymentSpec spec = resource.getSpec();
    found.addAll(SharedRules.shared(spec));
    found.addAll(certificates(spec));
    found.addAll(name(resource));
    return List.copyOf(found);
  }

  private static List<Violation> certificates(LegacyDeploymentSpec spec) {
    List<Violation> found = new ArrayList<>();
    if (spec.caCert() == null
        && (spec.registryCert() != null || spec.nodeControllerCert() != null)) {
      found.add(new Violation("spec", "", AUTHORITY));
    }
    if (spec.caCert() != null
        && Stream.of(
                Optional.ofNullable(spec.registryCert()),
                Optional.ofNullable(spec.registryKey()),
                Optional.ofNullable(spec.nodeControllerCert()),
                Optional.ofNullable(spec.nodeControllerKey()))
            .anyMatch(Optional::isEmpty)) {
      found.add(new Violation("spec", "", ALL_CERTIFICATES));
    }
    return found;
  }

  /** The controller's service is named after the resource, by the rules of DNS labels. */
  private static List<Violation> name(LegacyDeployment resource) {
    String name = Optional.ofNullable(resource.getMetadata()).map(ObjectMeta::getName).orElse("");
    Optional<Violation> unusable = SharedRules.name(name);
    if (unusable.isPresent()) {
      return List.of(unusable.get());
    }
    if (!Character.isLetter(name.charAt(0))) {
      return List.of(new Violation("metadata.name", name, NAME_START));
    }
    return List.of();
  }
}
