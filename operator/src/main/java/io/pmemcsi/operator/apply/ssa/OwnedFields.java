package io.pmemcsi.operator.apply.ssa;

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
 * Decides from {@code metadata.managedFields} whether applying an object again would change
 * anything: every desired value is set and owned by the manager, and the manager owns nothing else.
 *
 * <p>JOSDK's {@code SSABasedGenericKubernetesResourceMatcher} reports differences where real
 * servers have none: the order of sets (a CSIDriver's lifecycle modes), defaults in atomic lists
 * (the scope of a webhook's rule) and empty maps (an emptyDir). Each would be a write per
 * reconciliation.
 *
 * @param fieldManager whose entries in managedFields count
 */
record OwnedFields(String fieldManager, KubernetesSerialization serialization) {

  private static final String FIELD = "f:";
  private static final String KEY = "k:";
  private static final String VALUE = "v:";

  /** Identify the object in the request; no manager owns them. */
  private static final Set<String> IDENTITY = Set.of("apiVersion", "kind");

  private static final Set<String> NAMES = Set.of("name", "namespace", "uid");

  private static final Set<String> QUANTITIES = Set.of("limits", "requests", "sizeLimit");

  /**
   * Defaults that servers set in elements of atomic lists: the scope of a webhook's rule, the
   * lifetime of a projected token, the version of a field reference, the unit of a resource
   * reference, the API group of a binding's subject, the protocol of a port.
   */
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "scope", "*",
          "expirationSeconds", "3600",
          "apiVersion", "v1",
          "divisor", "0",
          "apiGroup", "rbac.authorization.k8s.io",
          "protocol", "TCP");

  boolean match(HasMetadata actualObject, HasMetadata desiredObject) {
    Optional<Map<?, ?>> fields = owned(actualObject);
    if (fields.isEmpty()) {
      return false;
    }
    Map<?, ?> owned = fields.get();
    Map<?, ?> actual = serialization.convertValue(actualObject, Map.class);
    Map<?, ?> desired = serialization.convertValue(desiredObject, Map.class);
    for (Object name : desired.keySet()) {
      if (!IDENTITY.contains(name) && !name.equals("metadata")) {
        if (!same(name, desired.get(name), actual.get(name), owned.get(FIELD + name))) {
          return false;
        }
      }
    }
    return metadata(desired.get("metadata"), actual.get("metadata"), owned.get("f:metadata"))
        && ownsNothingElse(desired, actual, owned);
  }

  /** The fields that we applied or, equal unless the server set defaults, those that we created. */
  private Optional<Map<?, ?>> owned(HasMetadata actual) {
    return owned(actual, "Apply").or(() -> owned(actual, "Update"));
  }

  private Optional<Map<?, ?>> owned(HasMetadata actual, String operation) {
    return actual.getMetadata().getManagedFields().stream()
        .filter(entry -> fieldManager.equals(entry.getManager()))
        .filter(entry -> operation.equals(entry.getOperation()) && entry.getFieldsV1() != null)
        .<Map<?, ?>>map(entry -> entry.getFieldsV1().getAdditionalProperties())
        .findFirst();
  }

  private static boolean metadata(
      @Nullable Object desiredValue, @Nullable Object actualValue, @Nullable Object fields) {
    if (!(desiredValue instanceof Map<?, ?> desired)
        || !(actualValue instanceof Map<?, ?> actual)) {
      return false;
    }
    for (Object name : desired.keySet()) {
      if (!NAMES.contains(name)) {
        Object owned = fields instanceof Map<?, ?> map ? map.get(FIELD + name) : null;
        if (!same(name, desired.get(name), actual.get(name), owned)) {
          return false;
        }
      }
    }
    return !(fields instanceof Map<?, ?> owned) || ownsNothingElse(desired, actual, owned);
  }

  /**
   * Compares one value.
   *
   * @param fields what we own of it: nothing (null), all of it (an empty map), or parts of it
   */
  private static boolean same(
      Object name,
      @Nullable Object desiredValue,
      @Nullable Object actualValue,
      @Nullable Object fields) {
    if (desiredValue == null || isUnset(desiredValue)) {
      return actualValue == null
          || isUnset(actualValue)
          || (desiredValue instanceof Map && actualValue instanceof Map);
    }
    if (actualValue == null || !(fields instanceof Map<?, ?> owned)) {
      return false;
    }
    if (isAtomic(owned)) {
      return sameAtomic(name, desiredValue, actualValue);
    }
    return switch (desiredValue) {
      case Map<?, ?> desired when actualValue instanceof Map<?, ?> actual ->
          desired.keySet().stream()
                  .allMatch(
                      key ->
                          same(
                              within(name, key),
                              desired.get(key),
                              actual.get(key),
                              owned.get(FIELD + key)))
              && ownsNothingElse(desired, actual, owned);
      case List<?> desired when actualValue instanceof List<?> actual && count(owned, KEY) > 0 ->
          sameKeyed(name, desired, actual, owned);
      case List<?> desired when actualValue instanceof List<?> actual && count(owned, VALUE) > 0 ->
          desired.size() == count(owned, VALUE) && actual.containsAll(desired);
      default -> sameAtomic(name, desiredValue, actualValue);
    };
  }

  /** Compares lists of type map, whose elements are identified by key fields. */
  private static boolean sameKeyed(Object name, List<?> desired, List<?> actual, Map<?, ?> owned) {
    if (desired.size() != count(owned, KEY)) {
      return false;
    }
    for (var entry : owned.entrySet()) {
      String key = String.valueOf(entry.getKey());
      if (key.startsWith(KEY)) {
        Map<?, ?> identity = ListKey.parse(key.substring(KEY.length()));
        Optional<?> desiredItem = ListKey.find(desired, identity);
        Optional<?> actualItem = ListKey.find(actual, identity);
        if (desiredItem.isEmpty()
            || actualItem.isEmpty()
            || !same(name, desiredItem.get(), actualItem.get(), entry.getValue())) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether every owned field is desired, or no longer set. */
  private static boolean ownsNothingElse(Map<?, ?> desired, Map<?, ?> actual, Map<?, ?> owned) {
    return owned.keySet().stream()
        .map(String::valueOf)
        .filter(key -> key.startsWith(FIELD))
        .map(key -> key.substring(FIELD.length()))
        .allMatch(name -> desired.containsKey(name) || !actual.containsKey(name));
  }

  /**
   * Compares a value that is owned as a whole. Only defaults of the server may be set besides:
   * managedFields does not distinguish them from values that we once set.
   */
  private static boolean sameAtomic(
      Object name, @Nullable Object desiredValue, @Nullable Object actualValue) {
    if (desiredValue == null || isUnset(desiredValue)) {
      return isUnset(actualValue)
          || String.valueOf(actualValue).equals(DEFAULTS.get(String.valueOf(name)));
    }
    return switch (desiredValue) {
      case Map<?, ?> desired when Selectors.isSelector(name) -> desired.equals(actualValue);
      case Map<?, ?> desired when actualValue instanceof Map<?, ?> actual ->
          Stream.concat(desired.keySet().stream(), actual.keySet().stream())
              .allMatch(key -> sameAtomic(within(name, key), desired.get(key), actual.get(key)));
      case List<?> desired when actualValue instanceof List<?> actual -> {
        boolean all = desired.size() == actual.size();
        for (int i = 0; all && i < desired.size(); i++) {
          all = sameAtomic(name, desired.get(i), actual.get(i));
        }
        yield all;
      }
      default ->
          Objects.equals(desiredValue, actualValue)
              || (QUANTITIES.contains(name) && sameQuantity(desiredValue, actualValue));
    };
  }

  /** Quantities have names such as cpu, so the name of the surrounding map counts. */
  private static Object within(Object map, Object key) {
    return QUANTITIES.contains(map) ? map : key;
  }

  /** The server normalizes quantities: 0.5 becomes 500m. */
  private static boolean sameQuantity(Object desired, @Nullable Object actual) {
    try {
      return actual != null
          && new Quantity(String.valueOf(desired))
                  .getNumericalAmount()
                  .compareTo(new Quantity(String.valueOf(actual)).getNumericalAmount())
              == 0;
    } catch (IllegalArgumentException | ArithmeticException e) {
      return false;
    }
  }

  /** Whether the server omits the value. */
  static boolean isUnset(@Nullable Object value) {
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

  private static boolean isAtomic(Map<?, ?> owned) {
    return owned.keySet().stream().allMatch("."::equals);
  }

  private static long count(Map<?, ?> owned, String prefix) {
    return owned.keySet().stream().filter(key -> String.valueOf(key).startsWith(prefix)).count();
  }
}
