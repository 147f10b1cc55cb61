package io.pmemcsi.api;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.BeanPropertyDefinition;
import io.fabric8.kubernetes.api.model.KubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Checks values that must be of a type of the Kubernetes API, but that no schema describes. The
 * Java types keep unknown fields as they are, and the API server answers a server-side apply with
 * them as if it had failed itself.
 */
public final class KubernetesFields {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  /** Introspection is slow, and the types are always the same. */
  private static final Map<JavaType, Map<String, JavaType>> FIELDS = new ConcurrentHashMap<>();

  private KubernetesFields() {}

  /**
   * What keeps a value from being one of a type: values of the wrong type, or else unknown fields.
   *
   * @param field where the value stands
   * @param name of the type, for people
   */
  public static List<Violation> check(
      String field, @Nullable JsonNode value, Class<?> type, String name) {
    if (value == null || value.isNull()) {
      return List.of();
    }
    try {
      JSON.convertValue(value, type);
    } catch (IllegalArgumentException e) {
      return List.of(WrongType.in(field, e));
    }
    var found = new ArrayList<String>();
    find(field, value, MAPPER.constructType(type), found);
    return found.stream()
        .map(
            path ->
                new Violation(
                    path,
                    "",
                    "is not a field of %s: correct its name or remove it".formatted(name),
                    true))
        .toList();
  }

  private static void find(String path, JsonNode value, JavaType type, List<String> found) {
    if (value.isArray() && type.isCollectionLikeType()) {
      for (int i = 0; i < value.size(); i++) {
        find("%s[%d]".formatted(path, i), value.get(i), type.getContentType(), found);
      }
    } else if (value.isObject() && type.isTypeOrSubTypeOf(KubernetesResource.class)) {
      Map<String, JavaType> fields = FIELDS.computeIfAbsent(type, KubernetesFields::fields);
      value
          .properties()
          .forEach(
              field -> {
                String below = path + "." + field.getKey();
                JavaType expected = fields.get(field.getKey());
                if (expected == null) {
                  found.add(below);
                } else {
                  find(below, field.getValue(), expected, found);
                }
              });
    }
  }

  private static Map<String, JavaType> fields(JavaType type) {
    return MAPPER.getDeserializationConfig().introspect(type).findProperties().stream()
        .collect(
            Collectors.toMap(
                BeanPropertyDefinition::getName, BeanPropertyDefinition::getPrimaryType));
  }
}
