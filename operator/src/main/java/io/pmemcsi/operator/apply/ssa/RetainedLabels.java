package io.pmemcsi.operator.apply.ssa;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Adds labels that we set earlier to the desired ones, because server-side apply would remove them.
 *
 * @param fieldManager whose labels are retained; labels of other managers are not touched anyway
 */
record RetainedLabels(String fieldManager) {

  private static final List<String> OBJECT = List.of("f:metadata", "f:labels");
  private static final List<String> POD = List.of("f:spec", "f:template", "f:metadata", "f:labels");

  void addTo(HasMetadata desired, HasMetadata actual) {
    retain(owned(actual, OBJECT), actual.getMetadata(), desired.getMetadata());
    Optional<PodTemplateSpec> from = PodTemplates.of(actual);
    Optional<PodTemplateSpec> to = PodTemplates.of(desired);
    if (from.isPresent() && to.isPresent() && from.get().getMetadata() != null) {
      if (to.get().getMetadata() == null) {
        to.get().setMetadata(new ObjectMeta());
      }
      retain(owned(actual, POD), from.get().getMetadata(), to.get().getMetadata());
    }
  }

  private static void retain(Set<String> owned, ObjectMeta from, ObjectMeta to) {
    if (from.getLabels() == null) {
      return;
    }
    Map<String, String> labels =
        to.getLabels() == null ? new LinkedHashMap<>() : new LinkedHashMap<>(to.getLabels());
    from.getLabels()
        .forEach(
            (key, value) -> {
              if (owned.contains("f:" + key)) {
                labels.putIfAbsent(key, value);
              }
            });
    to.setLabels(labels);
  }

  private Set<String> owned(HasMetadata actual, List<String> path) {
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
}
