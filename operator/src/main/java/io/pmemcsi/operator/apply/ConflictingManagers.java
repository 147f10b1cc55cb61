package io.pmemcsi.operator.apply;

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
 * Who else sets values that are ours: the server keeps book of who wrote each field.
 *
 * @param fieldManager under which we write
 */
record ConflictingManagers(String fieldManager, KubernetesSerialization serialization) {

  private static final String FIELD = "f:";
  private static final String KEY = "k:";

  /**
   * The names under which others hold a wanted field with another value, or one that they added and
   * that is taken away; where they took a value away, which no book shows, the names of those who
   * wrote last. Empty if nobody else ever did.
   */
  List<String> of(HasMetadata actual, HasMetadata wanted) {
    List<ManagedFieldsEntry> others =
        actual.getMetadata().getManagedFields().stream()
            .filter(entry -> entry.getManager() != null)
            .filter(entry -> !fieldManager.equals(entry.getManager()))
            .filter(entry -> entry.getFieldsV1() != null)
            .toList();
    Map<?, ?> want = serialization.convertValue(wanted, Map.class);
    Map<?, ?> have = serialization.convertValue(actual, Map.class);
    var book = new Book(ForeignFields.of(actual, wanted, serialization));
    List<String> holders =
        names(
            others.stream()
                .filter(
                    entry ->
                        book.holds("", entry.getFieldsV1().getAdditionalProperties(), want, have)));
    return holders.isEmpty() ? names(last(others)) : holders;
  }

  private static List<String> names(Stream<ManagedFieldsEntry> entries) {
    return entries.map(ManagedFieldsEntry::getManager).distinct().sorted().toList();
  }

  /** Times are counted in whole seconds: whoever wrote in the last one may be the last. */
  private static Stream<ManagedFieldsEntry> last(List<ManagedFieldsEntry> entries) {
    List<ManagedFieldsEntry> timed =
        entries.stream().filter(entry -> entry.getTime() != null && !isStatus(entry)).toList();
    return timed.stream().map(ManagedFieldsEntry::getTime).max(Comparator.naturalOrder()).stream()
        .flatMap(newest -> timed.stream().filter(entry -> newest.equals(entry.getTime())));
  }

  /**
   * Controllers count pods, and note the revision of a workload with that: they come last, and are
   * nobody's rival. Servers before 1.22 do not say that an entry is about the status.
   */
  private static boolean isStatus(ManagedFieldsEntry entry) {
    return "status".equals(entry.getSubresource())
        || entry.getFieldsV1().getAdditionalProperties().containsKey("f:status");
  }

  /**
   * How to read the fields of one entry.
   *
   * @param surplus pointers to what others added
   */
  private record Book(List<String> surplus) {

    boolean holds(String at, Map<?, ?> fields, @Nullable Object want, @Nullable Object have) {
      return fields.entrySet().stream()
          .anyMatch(
              entry -> {
                String key = String.valueOf(entry.getKey());
                Map<?, ?> below = entry.getValue() instanceof Map<?, ?> map ? map : Map.of();
                if (key.startsWith(FIELD)) {
                  String name = key.substring(FIELD.length());
                  return holdsField(
                      at + "/" + Selectors.escaped(name),
                      name,
                      below,
                      part(want, name),
                      part(have, name));
                }
                if (key.startsWith(KEY)) {
                  Map<?, ?> identity = ListKey.parse(key.substring(KEY.length()));
                  OptionalInt index = index(have, identity);
                  return element(want, identity)
                      .map(
                          element ->
                              holds(
                                  at + "/" + index.orElse(-1),
                                  below,
                                  element,
                                  element(have, identity).orElse(null)))
                      .orElse(false);
                }
                return false;
              });
    }

    private boolean holdsField(
        String at, String name, Map<?, ?> fields, @Nullable Object want, @Nullable Object have) {
      boolean leaf = fields.keySet().stream().allMatch("."::equals);
      if (surplus.stream().anyMatch(it -> it.equals(at) || (leaf && it.startsWith(at + "/")))) {
        return true;
      }
      if (want == null) {
        return holds(at, fields, null, have);
      }
      return !want.equals(have) && (leaf || Selectors.is(name) || holds(at, fields, want, have));
    }
  }

  private static @Nullable Object part(@Nullable Object of, String name) {
    return of instanceof Map<?, ?> map ? map.get(name) : null;
  }

  private static Optional<Object> element(@Nullable Object list, Map<?, ?> identity) {
    return index(list, identity).stream()
        .<Object>mapToObj(
            i -> Objects.requireNonNull(((List<?>) Objects.requireNonNull(list)).get(i)))
        .findFirst();
  }

  private static OptionalInt index(@Nullable Object list, Map<?, ?> identity) {
    return list instanceof List<?> elements
        ? IntStream.range(0, elements.size())
            .filter(i -> elements.get(i) != null && ListKey.fits(elements.get(i), identity))
            .findFirst()
        : OptionalInt.empty();
  }
}
