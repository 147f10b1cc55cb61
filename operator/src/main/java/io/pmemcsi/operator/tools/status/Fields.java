package io.pmemcsi.operator.tools.status;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads objects of which any field may be missing. */
final class Fields {

  private Fields() {}

  /** The entries of a list of objects. */
  static List<Map<?, ?>> entries(GenericKubernetesResource object, Object... path) {
    return object.get(path) instanceof List<?> list ? maps(list) : List.of();
  }

  static List<Map<?, ?>> entries(Map<?, ?> entry, String field) {
    return entry.get(field) instanceof List<?> list ? maps(list) : List.of();
  }

  private static List<Map<?, ?>> maps(List<?> list) {
    return list.stream()
        .filter(Map.class::isInstance)
        .<Map<?, ?>>map(entry -> (Map<?, ?>) entry)
        .toList();
  }

  static Map<?, ?> object(GenericKubernetesResource object, Object... path) {
    return object.get(path) instanceof Map<?, ?> map ? map : Map.of();
  }

  static Map<?, ?> object(Map<?, ?> entry, String field) {
    return entry.get(field) instanceof Map<?, ?> map ? map : Map.of();
  }

  /** Empty for an object without the label. */
  static String label(HasMetadata object, String key) {
    Map<String, String> labels = object.getMetadata().getLabels();
    return labels == null ? "" : labels.getOrDefault(key, "");
  }

  static String text(Map<?, ?> entry, String field) {
    return text(entry.get(field));
  }

  static String text(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }

  static long number(Map<?, ?> entry, String field) {
    return entry.get(field) instanceof Number number ? number.longValue() : 0;
  }

  static long bytes(@Nullable Quantity quantity) {
    return quantity == null ? 0 : Quantity.getAmountInBytes(quantity).longValue();
  }

  /**
   * Zero for a text that is no quantity: the API server does not check the attributes of volumes.
   */
  static long bytes(String quantity) {
    try {
      return quantity.isEmpty() ? 0 : bytes(Quantity.parse(quantity));
    } catch (IllegalArgumentException e) {
      return 0;
    }
  }
}
