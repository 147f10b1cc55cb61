package io.pmemcsi.api;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.generator.annotation.Pattern;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How the pods of one component are scheduled and annotated. Types of Kubernetes are kept as they
 * are in the JSON: no field of a newer Kubernetes may get lost.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PodOptions(
    @JsonPropertyDescription(
            "Annotations of the pods, beside those of the operator, which they overwrite. Default:"
                + " none.")
        @Nullable Map<String, String> annotations,
    @Size(max = 64)
        @JsonPropertyDescription(
            "Taints of nodes that the pods tolerate, instead of those that the operator chooses; an"
                + " empty list tolerates none. Default: on nodes every taint, for the controller"
                + " all with the effects NoSchedule and NoExecute.")
        @Nullable List<JsonNode> tolerations,
    @JsonPropertyDescription(
            "Where the pods may and should run, as in a pod. Default: none on nodes; replicas of"
                + " the controller prefer different nodes.")
        @Nullable JsonNode affinity,
    @Size(max = 253)
        @Pattern("^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
        @JsonPropertyDescription(
            "Priority class of the pods, which must exist. Default: system-node-critical on nodes,"
                + " system-cluster-critical for the controller.")
        @Nullable String priorityClassName) {

  /** Nothing is set. */
  public static final PodOptions DEFAULT = new PodOptions(null, null, null, null);

  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  public PodOptions {
    annotations = Written.copy(annotations);
    tolerations = tolerations == null ? null : List.copyOf(tolerations);
  }

  /** What is wrong with the options in a field. */
  public List<Violation> check(String field) {
    List<Violation> found =
        new ArrayList<>(
            SharedRules.labelKeys(field + ".annotations", annotations, SharedRules.ANNOTATIONS));
    for (int i = 0; tolerations != null && i < tolerations.size(); i++) {
      found.addAll(
          KubernetesFields.check(
              "%s.tolerations[%d]".formatted(field, i),
              tolerations.get(i),
              Toleration.class,
              "a toleration"));
    }
    found.addAll(
        KubernetesFields.check(field + ".affinity", affinity, Affinity.class, "an affinity"));
    return found;
  }

  /** The tolerations of the pods, unless the operator chooses them. */
  public Optional<List<Toleration>> podTolerations() {
    return Optional.ofNullable(tolerations)
        .map(list -> list.stream().map(one -> JSON.convertValue(one, Toleration.class)).toList());
  }

  /** The affinity of the pods, unless the operator chooses it. */
  public Optional<Affinity> podAffinity() {
    return Optional.ofNullable(affinity)
        .filter(node -> !node.isNull())
        .map(node -> JSON.convertValue(node, Affinity.class));
  }
}
