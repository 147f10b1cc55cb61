package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Labels are added or overwritten, never removed: server-side apply would drop a label that is no
 * longer wanted, so labels that we set earlier are wanted again.
 *
 * @param fieldManager whose labels are kept; labels of others are theirs to keep or remove
 */
record LabelRetention(String fieldManager) {

  private static final List<String> OBJECT = List.of("f:metadata", "f:labels");
  private static final List<String> POD = List.of("f:spec", "f:template", "f:metadata", "f:labels");

  void carryOver(HasMetadata actual, HasMetadata wanted) {
    carryOver(ours(actual, OBJECT), actual.getMetadata(), wanted.getMetadata());
    Optional<PodTemplateSpec> from = template(actual);
    Optional<PodTemplateSpec> to = template(wanted);
    if (from.isPresent() && to.isPresent() && from.get().getMetadata() != null) {
      if (to.get().getMetadata() == null) {
        to.get().setMetadata(new ObjectMeta());
      }
      carryOver(ours(actual, POD), from.get().getMetadata(), to.get().getMetadata());
    }
  }

  private static void carryOver(Set<String> ours, ObjectMeta from, ObjectMeta to) {
    if (from.getLabels() == null) {
      return;
    }
    Map<String, String> labels =
        to.getLabels() == null ? new LinkedHashMap<>() : new LinkedHashMap<>(to.getLabels());
    from.getLabels()
        .forEach(
            (key, value) -> {
              if (ours.contains("f:" + key)) {
                labels.putIfAbsent(key, value);
              }
            });
    to.setLabels(labels);
  }

  private Set<String> ours(HasMetadata actual, List<String> path) {
    var result = new HashSet<String>();
    for (var entry : actual.getMetadata().getManagedFields()) {
      if (fieldManager.equals(entry.getManager()) && entry.getFieldsV1() != null) {
        Object fields = entry.getFieldsV1().getAdditionalProperties();
        for (String step : path) {
          fields = fields instanceof Map<?, ?> map ? map.get(step) : null;
        }
        if (fields instanceof Map<?, ?> map) {
          map.keySet().stream().map(String::valueOf).forEach(result::add);
        }
      }
    }
    return result;
  }

  private static Optional<PodTemplateSpec> template(HasMetadata object) {
    return switch (object) {
      case Deployment workload when workload.getSpec() != null ->
          Optional.ofNullable(workload.getSpec().getTemplate());
      case DaemonSet workload when workload.getSpec() != null ->
          Optional.ofNullable(workload.getSpec().getTemplate());
      case StatefulSet workload when workload.getSpec() != null ->
          Optional.ofNullable(workload.getSpec().getTemplate());
      default -> Optional.empty();
    };
  }
}
