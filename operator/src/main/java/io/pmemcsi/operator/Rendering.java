package io.pmemcsi.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.ResourceChecks;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.pmem.PmemCSIDeployment;
import io.pmemcsi.api.pmem.PmemSettings;
import io.pmemcsi.api.template.CSIDriverDeployment;
import io.pmemcsi.api.template.TemplateSettings;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.operator.certs.BadCertificateException;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.kinds.pmem.PmemDesiredState;
import io.pmemcsi.operator.kinds.template.OperatorConfig;
import io.pmemcsi.operator.kinds.template.TemplateDesiredState;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The objects that the operator would make for a resource, without a cluster. */
public final class Rendering {

  private static final Set<Class<? extends HasMetadata>> HANDLED =
      Set.of(PmemCSIDeployment.class, CSIDriverDeployment.class);

  private final KubernetesSerialization serialization = new KubernetesSerialization();

  /** Reads a resource of a supported kind from YAML or JSON. */
  public HasMetadata read(String text) {
    JsonNode resource;
    try {
      resource = serialization.unmarshal(text, JsonNode.class);
    } catch (RuntimeException e) {
      throw new UsageException("cannot read the resource: " + Reason.of(e), e);
    }
    Class<? extends HasMetadata> kind =
        ResourceChecks.kind(resource)
            .filter(HANDLED::contains)
            .orElseThrow(
                () ->
                    notHandled(
                        resource.path("apiVersion").asText(), resource.path("kind").asText()));
    check(resource);
    return serialization.convertValue(resource, kind);
  }

  /** What an API server would refuse or drop is wrong here too. */
  private static void check(JsonNode resource) {
    List<Violation> violations = ResourceChecks.check(resource);
    if (!violations.isEmpty()) {
      throw new UsageException(
          violations.stream().map(Violation::message).collect(Collectors.joining("; ")));
    }
  }

  /** The wanted objects, in the order in which the operator writes them. */
  public List<HasMetadata> objects(HasMetadata resource, ClusterFacts facts) {
    return switch (resource) {
      case PmemCSIDeployment deployment -> pmem(deployment, facts);
      case CSIDriverDeployment deployment -> generic(deployment, facts);
      default -> throw notHandled(resource.getApiVersion(), resource.getKind());
    };
  }

  private static UsageException notHandled(String apiVersion, String kind) {
    return new UsageException(
        "%s %s is not a kind that this operator handles: use %s %s/%s or %s %s/%s"
            .formatted(
                apiVersion,
                kind,
                PmemCSIDeployment.KIND,
                PmemCSIDeployment.GROUP,
                PmemCSIDeployment.VERSION,
                CSIDriverDeployment.KIND,
                CSIDriverDeployment.GROUP,
                CSIDriverDeployment.VERSION));
  }

  /**
   * Refuses what no cluster could take: a kind that is not handled, or values that do not fit.
   *
   * @throws UsageException or IllegalArgumentException with the reason
   */
  public void requireHandled(HasMetadata resource) {
    objects(resource, ClusterFacts.assumed(KubernetesVersion.NEWEST_KNOWN, "any", "any"));
  }

  /** The objects as YAML documents. */
  public String yaml(List<HasMetadata> objects) {
    return objects.stream()
        .map(serialization::asYaml)
        .map(document -> document.startsWith("---") ? document : "---\n" + document)
        .collect(Collectors.joining());
  }

  private static List<HasMetadata> pmem(PmemCSIDeployment resource, ClusterFacts facts) {
    PmemSettings settings = PmemSettings.of(resource);
    try {
      return PmemDesiredState.assumed(settings, facts).objects();
    } catch (BadCertificateException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  /** With the configuration of an operator that has none, and in the operator's own namespace. */
  private static List<HasMetadata> generic(CSIDriverDeployment resource, ClusterFacts facts) {
    String namespace = resource.getMetadata().getNamespace();
    return TemplateDesiredState.of(
            namespace == null ? facts.namespace() : namespace,
            resource.getMetadata().getName(),
            TemplateSettings.of(resource),
            OperatorConfig.DEFAULT,
            facts)
        .objects();
  }
}
