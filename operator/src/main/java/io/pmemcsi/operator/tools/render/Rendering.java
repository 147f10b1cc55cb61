package io.pmemcsi.operator.tools.render;

import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.pmemcsi.api.Violation;
import io.pmemcsi.api.kinds.ResourceChecks;
import io.pmemcsi.api.yaml.YamlWriter;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.operator.certs.BadCertificateException;
import io.pmemcsi.operator.controller.DriverKind;
import io.pmemcsi.operator.facts.ClusterFacts;
import io.pmemcsi.operator.facts.KubernetesVersion;
import io.pmemcsi.operator.kinds.Kinds;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The objects that the operator would create for a resource, without a cluster. */
public final class Rendering {

  private final KubernetesSerialization serialization = new KubernetesSerialization();
  private final Kinds kinds = Kinds.offline();

  /** Reads a resource of a supported kind from YAML or JSON. */
  public HasMetadata read(String text) {
    JsonNode resource;
    try {
      resource = serialization.unmarshal(text, JsonNode.class);
    } catch (RuntimeException e) {
      throw new UsageException("cannot read the resource: " + Reason.of(e), e);
    }
    Class<? extends HasMetadata> type =
        ResourceChecks.kind(resource)
            .filter(found -> kinds.all().stream().anyMatch(kind -> kind.traits().type() == found))
            .orElseThrow(
                () ->
                    notHandled(
                        resource.path("apiVersion").asText(), resource.path("kind").asText()));
    check(resource);
    return serialization.convertValue(resource, type);
  }

  /** What an API server would refuse or drop is wrong here too. */
  private static void check(JsonNode resource) {
    List<Violation> violations = ResourceChecks.check(resource);
    if (!violations.isEmpty()) {
      throw new UsageException(
          violations.stream().map(Violation::message).collect(Collectors.joining("; ")));
    }
  }

  /** The desired objects, in the order in which the operator writes them. */
  public List<HasMetadata> objects(HasMetadata resource, ClusterFacts facts) {
    try {
      return kinds.all().stream()
          .flatMap(kind -> objects(kind, resource, facts).stream())
          .findFirst()
          .orElseThrow(() -> notHandled(resource.getApiVersion(), resource.getKind()));
    } catch (BadCertificateException e) {
      throw new UsageException(String.valueOf(e.getMessage()), e);
    }
  }

  private static <R extends CustomResource<?, S>, S> Optional<List<HasMetadata>> objects(
      DriverKind<R, S, ?, ?, ?> kind, HasMetadata resource, ClusterFacts facts) {
    Class<R> type = kind.traits().type();
    return type.isInstance(resource)
        ? Optional.of(kind.render(type.cast(resource), facts).objects())
        : Optional.empty();
  }

  private UsageException notHandled(String apiVersion, String kind) {
    return new UsageException(
        "%s %s is not a kind that this operator handles: use %s"
            .formatted(
                apiVersion,
                kind,
                kinds.all().stream()
                    .map(one -> one.traits().title())
                    .collect(Collectors.joining(" or "))));
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
  public String yaml(List<? extends HasMetadata> objects) {
    return objects.stream()
        .map(object -> serialization.convertValue(object, JsonNode.class))
        .map(object -> "---\n" + YamlWriter.write(object))
        .collect(Collectors.joining());
  }
}
