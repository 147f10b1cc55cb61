package io.pmemcsi.operator.engine;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who else sets values that are ours: the server keeps book of who wrote each field.
 *
 * @param fieldManager under which we write
 */
record Rivals(String fieldManager, KubernetesSerialization serialization) {

  private static final String FIELD = "f:";
  private static final String KEY = "k:";

  /**
   * The names under which others hold a wanted field with another value; where they took a value
   * away, which no book shows, the name of the last one who wrote. Empty if nobody else ever did.
   */
  List<String> of(HasMetadata actual, HasMetadata wanted) {
    List<ManagedFieldsEntry> others =
        actual.getMetadata().getManagedFields().stream()
            .filter(entry -> entry.getManager() != null)
            .filter(entry -> !fieldManager.equals(entry.getManager()))
            .filter(entry -> entry.getFieldsV1() != null && !onlyStatus(entry))
            .toList();
    Map<?, ?> want = serialization.convertValue(wanted, Map.class);
    Map<?, ?> have = serialization.convertValue(actual, Map.class);
    List<String> holders =
        names(
            others.stream()
                .filter(entry -> holds(entry.getFieldsV1().getAdditionalProperties(), want, have)));
    return holders.isEmpty() ? names(last(others).stream()) : holders;
  }

  private static List<String> names(Stream<ManagedFieldsEntry> entries) {
    return entries.map(ManagedFieldsEntry::getManager).distinct().sorted().toList();
  }

  private static Optional<ManagedFieldsEntry> last(List<ManagedFieldsEntry> entries) {
    return entries.stream()
        .filter(entry -> entry.getTime() != null)
        .max(Comparator.comparing(ManagedFieldsEntry::getTime));
  }

  /** Controllers count pods; nobody is their rival. */
  private static boolean onlyStatus(ManagedFieldsEntry entry) {
    return entry.getFieldsV1().getAdditionalProperties().keySet().stream()
        .allMatch("f:status"::equals);
  }

  private static boolean holds(Map<?, ?> fields, @Nullable Object want, @Nullable Object have) {
    return fields.entrySet().stream()
        .anyMatch(
            entry -> {
              String key = String.valueOf(entry.getKey());
              Map<?, ?> below = entry.getValue() instanceof Map<?, ?> map ? map : Map.of();
              if (key.startsWith(FIELD)) {
                String name = key.substring(FIELD.length());
                return holds(name, below, part(want, name), part(have, name));
              }
              if (key.startsWith(KEY)) {
                Map<?, ?> identity = ListKey.parse(key.substring(KEY.length()));
                return element(want, identity)
                    .map(element -> holds(below, element, element(have, identity).orElse(null)))
                    .orElse(false);
              }
              return false;
            });
  }

  private static boolean holds(
      String name, Map<?, ?> fields, @Nullable Object want, @Nullable Object have) {
    if (want == null || want.equals(have)) {
      return false;
    }
    boolean leaf = fields.keySet().stream().allMatch("."::equals);
    return leaf || Selectors.is(name) || holds(fields, want, have);
  }

  private static @Nullable Object part(@Nullable Object of, String name) {
    return of instanceof Map<?, ?> map ? map.get(name) : null;
  }

  private static Optional<Object> element(@Nullable Object list, Map<?, ?> identity) {
    return list instanceof List<?> elements
        ? elements.stream()
            .filter(Objects::nonNull)
            .filter(element -> ListKey.fits(element, identity))
            .map(Object.class::cast)
            .findFirst()
        : Optional.empty();
  }
}
