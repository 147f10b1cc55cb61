package io.pmemcsi.api.pmem;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.ComputeResources;
import io.pmemcsi.api.SharedRules;
import io.pmemcsi.api.SnapshotClassChecks;
import io.pmemcsi.api.StorageClassChecks;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.Written;
import io.pmemcsi.api.schema.StructuralSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds everything in a {@link PmemCSIDeployment} that cannot be carried out, whatever the server
 * has let through: the schema of the CRD, its rules in CEL, and what neither can express.
 */
public final class PmemCSIDeploymentChecks {

  static final String REPLICAS_CEL =
      "!has(self.controllerReplicas) || !has(self.controllReplicas)"
          + " || self.controllerReplicas == 0 || self.controllReplicas == 0"
          + " || self.controllerReplicas == self.controllReplicas";
  static final String REPLICAS =
      "controllerReplicas and controllReplicas differ: set one of them, or both to the same value";

  private static final String HAS_INLINE_CEL =
      "(has(self.caCert) || has(self.registryCert) || has(self.registryKey)"
          + " || has(self.nodeControllerCert) || has(self.nodeControllerKey))";
  static final String ONE_TLS_CEL =
      "[has(self.controllerTLSSecret) && self.controllerTLSSecret != '',"
          + " has(self.controllerTLS) && has(self.controllerTLS.managed)"
          + " && self.controllerTLS.managed, "
          + HAS_INLINE_CEL
          + "].filter(named, named).size() <= 1";
  static final String ONE_TLS =
      "TLS material is named more than once: use only one of controllerTLSSecret,"
          + " controllerTLS.managed and the inline certificate fields";

  static final String INLINE_CEL =
      "!"
          + HAS_INLINE_CEL
          + " || (has(self.caCert) && has(self.registryCert) && has(self.registryKey))";
  static final String INLINE =
      "inline certificates are incomplete: set caCert, registryCert and registryKey together";

  static final String NODE_PAIR_CEL = "has(self.nodeControllerCert) == has(self.nodeControllerKey)";
  static final String NODE_PAIR =
      "nodeControllerCert and nodeControllerKey belong together: set both or none";

  static final String RENEWAL_CEL =
      "!has(self.renewBeforeDays)"
          + " || self.renewBeforeDays < (has(self.validityDays) ? self.validityDays : 365)";
  static final String RENEWAL =
      "renewBeforeDays is not less than validityDays: certificates would be renewed for ever";

  /** What the 63 characters of a service's name leave for the driver's, besides -scheduler. */
  private static final int MAX_NAME_WITH_SERVICES = 53;

  /** Inline certificates without caCert break another rule. */
  private static final String NO_CONTROLLER_CEL =
      "!has(self.spec) || !((has(self.spec.controllerTLSSecret)"
          + " && self.spec.controllerTLSSecret != '')"
          + " || (has(self.spec.controllerTLS) && has(self.spec.controllerTLS.managed)"
          + " && self.spec.controllerTLS.managed)"
          + " || has(self.spec.caCert))";

  static final String NAME_LENGTH_CEL =
      NO_CONTROLLER_CEL + " || self.metadata.name.size() <= " + MAX_NAME_WITH_SERVICES;
  static final String NAME_LENGTH =
      "the name is too long for a driver with a controller, whose services are named after it: use"
          + " at most "
          + MAX_NAME_WITH_SERVICES
          + " characters";
  static final String NAME_START_CEL =
      NO_CONTROLLER_CEL + " || self.metadata.name.matches('^[a-z]')";
  static final String NAME_START =
      "the name does not start with a letter, as the services of a controller need it: choose"
          + " another";

  private static final KubernetesSerialization JSON = new KubernetesSerialization();
  private static final StructuralSchema SCHEMA = StructuralSchema.of(PmemCSIDeployment.class);

  private PmemCSIDeploymentChecks() {}

  /** All violations of a resource; with none it can be turned into {@link PmemSettings}. */
  public static List<Violation> check(PmemCSIDeployment resource) {
    JsonNode json = JSON.convertValue(resource, JsonNode.class);
    List<Violation> found = new ArrayList<>(SCHEMA.violations(json));
    found.addAll(ComputeResources.check(json));
    PmemCSIDeploymentSpec spec = resource.getSpec();
    found.addAll(SharedRules.shared(spec));
    SharedRules.differ(
            "spec",
            Written.number(spec.controllerReplicas()),
            Written.number(spec.controllReplicas()),
            REPLICAS)
        .ifPresent(found::add);
    renewal(spec).ifPresent(found::add);
    found.addAll(extraNames(spec));
    found.addAll(tls(spec));
    found.addAll(pods(spec));
    found.addAll(StorageClassChecks.check(spec.storageClassTemplates()));
    found.addAll(SnapshotClassChecks.check(spec.snapshotClassTemplates()));
    found.addAll(name(resource));
    return List.copyOf(found);
  }

  private static Optional<Violation> renewal(PmemCSIDeploymentSpec spec) {
    return Optional.ofNullable(spec.controllerTLS())
        .filter(tls -> tls.renewBeforeDays() != null)
        .filter(tls -> tls.renewBeforeDaysOrDefault() >= tls.validityDaysOrDefault())
        .map(
            tls ->
                new Violation(
                    "spec.controllerTLS", String.valueOf(tls.renewBeforeDaysOrDefault()), RENEWAL));
  }

  private static List<Violation> extraNames(PmemCSIDeploymentSpec spec) {
    return Optional.ofNullable(spec.controllerTLS()).stream()
        .flatMap(tls -> tls.extraNamesOrNone().stream())
        .filter(name -> !HostName.isOne(name))
        .map(name -> new Violation("spec.controllerTLS.extraNames", name, HostName.PROBLEM))
        .toList();
  }

  private static List<Violation> pods(PmemCSIDeploymentSpec spec) {
    List<Violation> found = new ArrayList<>();
    if (spec.nodePods() != null) {
      found.addAll(spec.nodePods().check("spec.nodePods"));
    }
    if (spec.controllerPods() != null) {
      found.addAll(spec.controllerPods().check("spec.controllerPods"));
    }
    return found;
  }

  private static List<Violation> tls(PmemCSIDeploymentSpec spec) {
    List<Violation> found = new ArrayList<>();
    boolean secret = Written.text(spec.controllerTLSSecret()).isPresent();
    boolean managed = spec.controllerTLS() != null && spec.controllerTLS().operatorIssues();
    boolean inline = hasInline(spec);
    if (Stream.of(secret, managed, inline).filter(named -> named).count() > 1) {
      found.add(new Violation("spec", "", ONE_TLS));
    }
    if (inline
        && (spec.caCert() == null || spec.registryCert() == null || spec.registryKey() == null)) {
      found.add(new Violation("spec", "", INLINE));
    }
    if ((spec.nodeControllerCert() == null) != (spec.nodeControllerKey() == null)) {
      found.add(new Violation("spec", "", NODE_PAIR));
    }
    return found;
  }

  private static boolean hasInline(PmemCSIDeploymentSpec spec) {
    return spec.caCert() != null
        || spec.registryCert() != null
        || spec.registryKey() != null
        || spec.nodeControllerCert() != null
        || spec.nodeControllerKey() != null;
  }

  /** The services of the controller are named after the resource, by the rules of DNS labels. */
  private static List<Violation> name(PmemCSIDeployment resource) {
    String name = Optional.ofNullable(resource.getMetadata()).map(ObjectMeta::getName).orElse("");
    PmemCSIDeploymentSpec spec = resource.getSpec();
    boolean controller =
        Written.text(spec.controllerTLSSecret()).isPresent()
            || (spec.controllerTLS() != null && spec.controllerTLS().operatorIssues())
            || hasInline(spec);
    List<Violation> found = new ArrayList<>();
    SharedRules.name(name).ifPresent(found::add);
    if (controller && name.length() > MAX_NAME_WITH_SERVICES) {
      found.add(new Violation("metadata.name", name, NAME_LENGTH));
    }
    if (controller && !name.isEmpty() && !Character.isLetter(name.charAt(0))) {
      found.add(new Violation("metadata.name", name, NAME_START));
    }
    return found;
  }
}
