package io.pmemcsi.operator.engine;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.SSABasedGenericKubernetesResourceMatcher;
import java.util.List;
import java.util.Map;

/**
 * Compares what we own of an object with what we want. The SDK's matcher takes the values of a set
 * (such as a CSIDriver's lifecycle modes) from the record of owned fields, where they are sorted;
 * here they get the order back that they have in the object.
 */
final class ObjectMatcher extends SSABasedGenericKubernetesResourceMatcher<HasMetadata> {

  @Override
  protected boolean matches(
      Map<String, Object> ours,
      Map<String, Object> wanted,
      HasMetadata actual,
      HasMetadata desired,
      Context<?> context) {
    Map<?, ?> all =
        context.getClient().getKubernetesSerialization().convertValue(actual, Map.class);
    reorder(ours, all);
    return ours.equals(wanted);
  }

  private static void reorder(Map<String, Object> ours, Map<?, ?> all) {
    for (var entry : ours.entrySet()) {
      Object inAll = all.get(entry.getKey());
      switch (entry.getValue()) {
        case Map<?, ?> map when inAll instanceof Map<?, ?> other -> reorder(cast(map), other);
        case List<?> list when inAll instanceof List<?> other && isReordered(list, other) ->
            entry.setValue(other.stream().filter(list::contains).toList());
        case null, default -> {}
      }
    }
  }

  private static boolean isReordered(List<?> list, List<?> other) {
    return !list.equals(other)
        && list.stream().noneMatch(Map.class::isInstance)
        && other.containsAll(list);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> cast(Map<?, ?> map) {
    return (Map<String, Object>) map;
  }
}
