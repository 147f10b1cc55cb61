package io.pmemcsi.operator.apply;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tells from the record that server-side apply keeps in an object whether applying again would
 * change anything: every wanted value is there and ours, and nothing is ours that is not wanted.
 *
 * <p>The SDK has such a matcher too. On real servers it sees differences where there are none: in
 * the order of sets (a CSIDriver's lifecycle modes), in values that the server fills into lists
 * which are owned as a whole (the scope of a webhook's rule), and in empty maps (an emptyDir), none
 * of which the record shows. Each would be a write per look.
 *
 * @param fieldManager whose fields count
 */
record OwnedFields(String fieldManager, KubernetesSerialization serialization) {

  private static final String FIELD = "f:";
  private static final String KEY = "k:";
  private static final String VALUE = "v:";

  /** What identifies an object is never applied, it is asked for. */
  private static final Set<String> IDENTITY = Set.of("apiVersion", "kind");

  private static final Set<String> NAMES = Set.of("name", "namespace", "uid");

  private static final Set<String> AMOUNTS = Set.of("limits", "requests", "sizeLimit");

  /**
   * What servers fill into elements of lists that are owned as a whole: the scope of a webhook's
   * rule, the life of a projected token, the version of a field reference, the unit of a resource
   * reference, the group of a binding's subject, the protocol of a port.
   */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "scope", "*",
          "expirationSeconds", "3600",
          "apiVersion", "v1",
          "divisor", "0",
          "apiGroup", "rbac.authorization.k8s.io",
          "protocol", "TCP");

  boolean match(HasMetadata actual, HasMetadata wanted) {
    Optional<Map<?, ?>> fields = record(actual);
    if (fields.isEmpty()) {
      return false;
    }
    Map<?, ?> have = serialization.convertValue(actual, Map.class);
    Map<?, ?> want = serialization.convertValue(wanted, Map.class);
    for (Object name : want.keySet()) {
      if (!IDENTITY.contains(name) && !name.equals("metadata")) {
        if (!same(name, want.get(name), have.get(name), fields.get().get(FIELD + name))) {
          return false;
        }
      }
    }
    return metadata(want.get("metadata"), have.get("metadata"), fields.get().get("f:metadata"))
        && nothingElse(want, have, fields.get());
  }

  /**
   * What we applied, or else what we created: where the server filled nothing in, both are the
   * same.
   */
  private Optional<Map<?, ?>> record(HasMetadata actual) {
    return record(actual, "Apply").or(() -> record(actual, "Update"));
  }

  private Optional<Map<?, ?>> record(HasMetadata actual, String operation) {
    return actual.getMetadata().getManagedFields().stream()
        .filter(entry -> fieldManager.equals(entry.getManager()))
        .filter(entry -> operation.equals(entry.getOperation()) && entry.getFieldsV1() != null)
        .<Map<?, ?>>map(entry -> entry.getFieldsV1().getAdditionalProperties())
        .findFirst();
  }

  private static boolean metadata(
      @Nullable Object want, @Nullable Object have, @Nullable Object fields) {
    if (!(want instanceof Map<?, ?> wanted) || !(have instanceof Map<?, ?> actual)) {
      return false;
    }
    for (Object name : wanted.keySet()) {
      if (!NAMES.contains(name)) {
        Object owned = fields instanceof Map<?, ?> map ? map.get(FIELD + name) : null;
        if (!same(name, wanted.get(name), actual.get(name), owned)) {
          return false;
        }
      }
    }
    return !(fields instanceof Map<?, ?> owned) || nothingElse(wanted, actual, owned);
  }

  /**
   * Compares one value.
   *
   * @param fields what of it is ours: nothing at all, all of it (an empty map), or parts of it
   */
  private static boolean same(
      Object name, @Nullable Object want, @Nullable Object have, @Nullable Object fields) {
    if (want == null || isNothing(want)) {
      return have == null || isNothing(have) || (want instanceof Map && have instanceof Map);
    }
    if (have == null || !(fields instanceof Map<?, ?> owned)) {
      return false;
    }
    if (isWhole(owned)) {
      return contains(name, want, have);
    }
    return switch (want) {
      case Map<?, ?> wanted when have instanceof Map<?, ?> actual ->
          wanted.keySet().stream()
                  .allMatch(
                      key ->
                          same(
                              within(name, key),
                              wanted.get(key),
                              actual.get(key),
                              owned.get(FIELD + key)))
              && nothingElse(wanted, actual, owned);
      case List<?> wanted when have instanceof List<?> actual && holds(owned, KEY) ->
          keyed(name, wanted, actual, owned);
      case List<?> wanted when have instanceof List<?> actual && holds(owned, VALUE) ->
          wanted.size() == count(owned, VALUE) && actual.containsAll(wanted);
      default -> contains(name, want, have);
    };
  }

  /** A list whose elements are told apart by some of their fields. */
  private static boolean keyed(Object name, List<?> wanted, List<?> actual, Map<?, ?> owned) {
    if (wanted.size() != count(owned, KEY)) {
      return false;
    }
    for (var entry : owned.entrySet()) {
      String key = String.valueOf(entry.getKey());
      if (key.startsWith(KEY)) {
        Map<?, ?> identity = ListKey.parse(key.substring(KEY.length()));
        Optional<?> want = wanted.stream().filter(item -> ListKey.fits(item, identity)).findFirst();
        Optional<?> have = actual.stream().filter(item -> ListKey.fits(item, identity)).findFirst();
        if (want.isEmpty() || have.isEmpty()) {
          return false;
        }
        if (!same(name, want.get(), have.get(), entry.getValue())) {
          return false;
        }
      }
    }
    return true;
  }

  /** Ours are only fields that are wanted, or that are gone. */
  private static boolean nothingElse(Map<?, ?> wanted, Map<?, ?> actual, Map<?, ?> owned) {
    return owned.keySet().stream()
        .map(String::valueOf)
        .filter(key -> key.startsWith(FIELD))
        .map(key -> key.substring(FIELD.length()))
        .allMatch(name -> wanted.containsKey(name) || !actual.containsKey(name));
  }

  /**
   * Owned as a whole: nothing may be there that is not wanted, except what the server fills in. The
   * record cannot tell a default from a value that we once set.
   */
  private static boolean contains(Object name, @Nullable Object want, @Nullable Object have) {
    if (want == null || isNothing(want)) {
      return isNothing(have) || String.valueOf(have).equals(DEFAULTS.get(String.valueOf(name)));
    }
    return switch (want) {
      case Map<?, ?> wanted when Selectors.is(name) -> wanted.equals(have);
      case Map<?, ?> wanted when have instanceof Map<?, ?> actual ->
          Stream.concat(wanted.keySet().stream(), actual.keySet().stream())
              .allMatch(key -> contains(within(name, key), wanted.get(key), actual.get(key)));
      case List<?> wanted when have instanceof List<?> actual -> {
        boolean all = wanted.size() == actual.size();
        for (int i = 0; all && i < wanted.size(); i++) {
          all = contains(name, wanted.get(i), actual.get(i));
        }
        yield all;
      }
      case null -> true;
      default -> Objects.equals(want, have) || (AMOUNTS.contains(name) && sameAmount(want, have));
    };
  }

  /** Amounts are called cpu or memory, so it is the name of the map that tells. */
  private static Object within(Object map, Object key) {
    return AMOUNTS.contains(map) ? map : key;
  }

  /** The server writes half a core as 500m. */
  private static boolean sameAmount(Object want, @Nullable Object have) {
    try {
      return have != null
          && new Quantity(String.valueOf(want))
                  .getNumericalAmount()
                  .compareTo(new Quantity(String.valueOf(have)).getNumericalAmount())
              == 0;
    } catch (IllegalArgumentException | ArithmeticException e) {
      return false;
    }
  }

  /** Values that the server leaves out. */
  static boolean isNothing(@Nullable Object value) {
    return switch (value) {
      case null -> true;
      case String text -> text.isEmpty();
      case Boolean flag -> !flag;
      case Number number -> number.doubleValue() == 0;
      case Map<?, ?> map -> map.isEmpty();
      case List<?> list -> list.isEmpty();
      default -> false;
    };
  }

  private static boolean isWhole(Map<?, ?> owned) {
    return owned.keySet().stream().allMatch("."::equals);
  }

  private static boolean holds(Map<?, ?> owned, String prefix) {
    return count(owned, prefix) > 0;
  }

  private static long count(Map<?, ?> owned, String prefix) {
    return owned.keySet().stream().filter(key -> String.valueOf(key).startsWith(prefix)).count();
  }
}
