package io.pmemcsi.operator.apply.ssa;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Fields that no other manager may set, even where we leave them unset. Server-side apply reverts
 * changes of fields that we own, but keeps fields that others add; these ones change what a driver
 * may do, or how it is used.
 */
final class ExclusiveFields {

  private static final Set<String> STORAGE_CLASS =
      Set.of("mountOptions", "allowVolumeExpansion", "allowedTopologies");
  private static final Set<String> CSI_DRIVER =
      Set.of(
          "requiresRepublish",
          "tokenRequests",
          "storageCapacity",
          "seLinuxMount",
          "fsGroupPolicy",
          "nodeAllocatableUpdatePeriodSeconds",
          "serviceAccountTokenInSecrets",
          "preventPodSchedulingIfMissing");
  private static final Set<String> WORKLOAD = Set.of("paused", "minReadySeconds");
  private static final Set<String> POD =
      Set.of("tolerations", "affinity", "hostNetwork", "hostPID", "hostIPC");
  private static final Set<String> CONTAINER = Set.of("command", "args");
  private static final Set<String> PORT = Set.of("hostPort");

  /** Defaults of the server; any other value was set by another manager. */
  private static final Map<String, String> DEFAULTS =
      Map.of("fsGroupPolicy", "ReadWriteOnceWithFSType");

  private ExclusiveFields() {}

  /**
   * JSON pointers to the fields that others added.
   *
   * @param desired an object as nested maps and lists
   * @param actual the same object on the server
   */
  static List<String> foreign(Map<?, ?> desired, Map<?, ?> actual) {
    var result = new ArrayList<String>();
    switch (String.valueOf(desired.get("kind"))) {
      case "StorageClass" -> compare(STORAGE_CLASS, "", desired, actual, result);
      case "CSIDriver" ->
          compare(CSI_DRIVER, "/spec", part(desired, "spec"), part(actual, "spec"), result);
      case "Deployment", "DaemonSet" ->
          workload(part(desired, "spec"), part(actual, "spec"), result);
      default -> {
        // other kinds have no such field, or are owned as a whole
      }
    }
    return result;
  }

  private static void workload(Map<?, ?> desired, Map<?, ?> actual, List<String> result) {
    compare(WORKLOAD, "/spec", desired, actual, result);
    String path = "/spec/template/spec";
    Map<?, ?> desiredPod = part(part(desired, "template"), "spec");
    Map<?, ?> actualPod = part(part(actual, "template"), "spec");
    compare(POD, path, desiredPod, actualPod, result);
    elements(
            element -> element.get("name"),
            path + "/containers",
            desiredPod.get("containers"),
            actualPod.get("containers"))
        .forEach(
            container -> {
              compare(CONTAINER, container, result);
              // with hostNetwork the server defaults them, and keeps them when hostNetwork ends
              if (OwnedFields.isUnset(desiredPod.get("hostNetwork"))) {
                elements(
                        ExclusiveFields::portKey,
                        container.path() + "/ports",
                        container.desired().get("ports"),
                        container.actual().get("ports"))
                    .forEach(port -> compare(PORT, port, result));
              }
            });
  }

  /** The list key of ports: a number may be used once per protocol. */
  private static String portKey(Map<?, ?> port) {
    Object protocol = port.get("protocol");
    return port.get("containerPort") + "/" + (protocol == null ? PortProtocols.DEFAULT : protocol);
  }

  /** An element of a list that is both desired and present. */
  private record Element(String path, Map<?, ?> desired, Map<?, ?> actual) {}

  private static List<Element> elements(
      Function<Map<?, ?>, @Nullable Object> key,
      String path,
      @Nullable Object desiredList,
      @Nullable Object actualList) {
    var result = new ArrayList<Element>();
    List<Map<?, ?>> desired = maps(desiredList);
    List<Map<?, ?>> actual = maps(actualList);
    for (int i = 0; i < actual.size(); i++) {
      String below = path + "/" + i;
      Map<?, ?> element = actual.get(i);
      desired.stream()
          .filter(candidate -> Objects.equals(key.apply(candidate), key.apply(element)))
          .findFirst()
          .ifPresent(match -> result.add(new Element(below, match, element)));
    }
    return result;
  }

  private static List<Map<?, ?>> maps(@Nullable Object list) {
    return list instanceof List<?> elements
        ? elements.stream().<Map<?, ?>>map(ExclusiveFields::map).toList()
        : List.of();
  }

  private static void compare(Set<String> fields, Element element, List<String> result) {
    compare(fields, element.path(), element.desired(), element.actual(), result);
  }

  private static void compare(
      Set<String> fields, String path, Map<?, ?> desired, Map<?, ?> actual, List<String> result) {
    fields.stream()
        .sorted()
        .filter(field -> OwnedFields.isUnset(desired.get(field)))
        .filter(field -> !OwnedFields.isUnset(actual.get(field)))
        .filter(field -> !Objects.equals(actual.get(field), DEFAULTS.get(field)))
        .forEach(field -> result.add(path + "/" + field));
  }

  private static Map<?, ?> part(Map<?, ?> of, String name) {
    return map(of.get(name));
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }
}
