package io.pmemcsi.operator.apply.ssa;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The other field managers that set what we desire to another value.
 *
 * @param fieldManager under which we write
 */
record ConflictingManagers(String fieldManager, KubernetesSerialization serialization) {

  private static final String FIELD = "f:";
  private static final String KEY = "k:";

  /**
   * The managers that own a desired field with another value, or a foreign field. managedFields
   * does not record removals: where a value was removed, the managers that wrote last. Empty if no
   * other manager ever wrote.
   */
  List<String> of(HasMetadata actualObject, HasMetadata desiredObject) {
    List<ManagedFieldsEntry> others =
        actualObject.getMetadata().getManagedFields().stream()
            .filter(entry -> entry.getManager() != null)
            .filter(entry -> !fieldManager.equals(entry.getManager()))
            .filter(entry -> entry.getFieldsV1() != null)
            .toList();
    Map<?, ?> desired = serialization.convertValue(desiredObject, Map.class);
    Map<?, ?> actual = serialization.convertValue(actualObject, Map.class);
    var conflicts = new Conflicts(ForeignFields.of(actualObject, desiredObject, serialization));
    List<String> owners =
        names(
            others.stream()
                .filter(
                    entry ->
                        conflicts.in(
                            "", entry.getFieldsV1().getAdditionalProperties(), desired, actual)));
    return owners.isEmpty() ? names(lastWriters(others)) : owners;
  }

  private static List<String> names(Stream<ManagedFieldsEntry> entries) {
    return entries.map(ManagedFieldsEntry::getManager).distinct().sorted().toList();
  }

  /** Times have a resolution of one second: every entry of the last one may be the newest. */
  private static Stream<ManagedFieldsEntry> lastWriters(List<ManagedFieldsEntry> entries) {
    List<ManagedFieldsEntry> timed =
        entries.stream().filter(entry -> entry.getTime() != null && !isStatus(entry)).toList();
    return timed.stream().map(ManagedFieldsEntry::getTime).max(Comparator.naturalOrder()).stream()
        .flatMap(newest -> timed.stream().filter(entry -> newest.equals(entry.getTime())));
  }

  /**
   * The controllers of workloads write status and revision after every change, and conflict with no
   * one. Servers before 1.22 do not set the subresource.
   */
  private static boolean isStatus(ManagedFieldsEntry entry) {
    return "status".equals(entry.getSubresource())
        || entry.getFieldsV1().getAdditionalProperties().containsKey("f:status");
  }

  /**
   * Searches the fields of one entry.
   *
   * @param foreign JSON pointers to the foreign fields
   */
  private record Conflicts(List<String> foreign) {

    boolean in(String path, Map<?, ?> fields, @Nullable Object desired, @Nullable Object actual) {
      return fields.entrySet().stream()
          .anyMatch(
              entry -> {
                String key = String.valueOf(entry.getKey());
                Map<?, ?> below = entry.getValue() instanceof Map<?, ?> map ? map : Map.of();
                if (key.startsWith(FIELD)) {
                  String name = key.substring(FIELD.length());
                  return inField(
                      path + "/" + Selectors.escaped(name),
                      name,
                      below,
                      part(desired, name),
                      part(actual, name));
                }
                if (key.startsWith(KEY)) {
                  Map<?, ?> listKey = ListKey.parse(key.substring(KEY.length()));
                  int index = index(actual, listKey).orElse(-1);
                  return element(desired, listKey)
                      .map(
                          element ->
                              in(
                                  path + "/" + index,
                                  below,
                                  element,
                                  element(actual, listKey).orElse(null)))
                      .orElse(false);
                }
                return false;
              });
    }

    private boolean inField(
        String path,
        String name,
        Map<?, ?> fields,
        @Nullable Object desired,
        @Nullable Object actual) {
      boolean leaf = fields.keySet().stream().allMatch("."::equals);
      if (foreign.stream()
          .anyMatch(other -> other.equals(path) || (leaf && other.startsWith(path + "/")))) {
        return true;
      }
      if (desired == null) {
        return in(path, fields, null, actual);
      }
      return !desired.equals(actual)
          && (leaf || Selectors.isSelector(name) || in(path, fields, desired, actual));
    }
  }

  private static @Nullable Object part(@Nullable Object of, String name) {
    return of instanceof Map<?, ?> map ? map.get(name) : null;
  }

  private static Optional<Object> element(@Nullable Object list, Map<?, ?> listKey) {
    return index(list, listKey).stream()
        .<Object>mapToObj(
            i -> Objects.requireNonNull(((List<?>) Objects.requireNonNull(list)).get(i)))
        .findFirst();
  }

  private static OptionalInt index(@Nullable Object list, Map<?, ?> listKey) {
    return list instanceof List<?> elements
        ? IntStream.range(0, elements.size())
            .filter(i -> elements.get(i) != null && ListKey.matches(elements.get(i), listKey))
            .findFirst()
        : OptionalInt.empty();
  }
}
