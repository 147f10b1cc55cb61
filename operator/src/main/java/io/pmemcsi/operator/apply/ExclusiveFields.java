package io.pmemcsi.operator.apply;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Fields that are ours even where we leave them out. Server-side apply takes back what others
 * change in a value of ours, but not a value that they add where we have none; in these fields that
 * changes what a driver may do, or how it is used.
 */
final class ExclusiveFields {

  private static final Set<String> OF_CLASS =
      Set.of("mountOptions", "allowVolumeExpansion", "allowedTopologies");
  private static final Set<String> OF_DRIVER =
      Set.of(
          "requiresRepublish",
          "tokenRequests",
          "storageCapacity",
          "seLinuxMount",
          "fsGroupPolicy",
          "nodeAllocatableUpdatePeriodSeconds");
  private static final Set<String> OF_WORKLOAD = Set.of("paused", "minReadySeconds");
  private static final Set<String> OF_POD =
      Set.of("tolerations", "affinity", "hostNetwork", "hostPID", "hostIPC");
  private static final Set<String> OF_CONTAINER = Set.of("command", "args");
  private static final Set<String> OF_PORT = Set.of("hostPort");

  /** What servers themselves fill in; another value is somebody's. */
  private static final Map<String, String> DEFAULTS =
      Map.of("fsGroupPolicy", "ReadWriteOnceWithFSType");

  private ExclusiveFields() {}

  /**
   * What others added, as pointers into the object.
   *
   * @param wanted an object as nested maps and lists
   * @param actual the same object on the server
   */
  static List<String> surplus(Map<?, ?> wanted, Map<?, ?> actual) {
    var result = new ArrayList<String>();
    switch (String.valueOf(wanted.get("kind"))) {
      case "StorageClass" -> compare(OF_CLASS, "", wanted, actual, result);
      case "CSIDriver" ->
          compare(OF_DRIVER, "/spec", part(wanted, "spec"), part(actual, "spec"), result);
      case "Deployment", "DaemonSet" ->
          workload(part(wanted, "spec"), part(actual, "spec"), result);
      default -> {
        // others have no such field, or are owned as a whole
      }
    }
    return result;
  }

  private static void workload(Map<?, ?> wanted, Map<?, ?> actual, List<String> result) {
    compare(OF_WORKLOAD, "/spec", wanted, actual, result);
    String at = "/spec/template/spec";
    Map<?, ?> want = part(part(wanted, "template"), "spec");
    Map<?, ?> have = part(part(actual, "template"), "spec");
    compare(OF_POD, at, want, have, result);
    elements(
            element -> element.get("name"),
            at + "/containers",
            want.get("containers"),
            have.get("containers"))
        .forEach(
            container -> {
              compare(OF_CONTAINER, container, result);
              // on the network of the host servers fill them in, and leave them there afterwards
              if (OwnedFields.isNothing(want.get("hostNetwork"))) {
                elements(
                        ExclusiveFields::portKey,
                        container.at() + "/ports",
                        container.wanted().get("ports"),
                        container.actual().get("ports"))
                    .forEach(port -> compare(OF_PORT, port, result));
              }
            });
  }

  /** As servers tell ports apart: one number may be there for each protocol. */
  private static String portKey(Map<?, ?> port) {
    Object protocol = port.get("protocol");
    return port.get("containerPort") + "/" + (protocol == null ? PortProtocols.DEFAULT : protocol);
  }

  /** An element of a list that is there and wanted. */
  private record Element(String at, Map<?, ?> wanted, Map<?, ?> actual) {}

  private static List<Element> elements(
      Function<Map<?, ?>, @Nullable Object> key,
      String at,
      @Nullable Object wanted,
      @Nullable Object actual) {
    var result = new ArrayList<Element>();
    List<Map<?, ?>> want = maps(wanted);
    List<Map<?, ?>> have = maps(actual);
    for (int i = 0; i < have.size(); i++) {
      String below = at + "/" + i;
      Map<?, ?> element = have.get(i);
      want.stream()
          .filter(one -> Objects.equals(key.apply(one), key.apply(element)))
          .findFirst()
          .ifPresent(one -> result.add(new Element(below, one, element)));
    }
    return result;
  }

  private static List<Map<?, ?>> maps(@Nullable Object list) {
    return list instanceof List<?> elements
        ? elements.stream().<Map<?, ?>>map(ExclusiveFields::map).toList()
        : List.of();
  }

  private static void compare(Set<String> fields, Element element, List<String> result) {
    compare(fields, element.at(), element.wanted(), element.actual(), result);
  }

  private static void compare(
      Set<String> fields, String at, Map<?, ?> wanted, Map<?, ?> actual, List<String> result) {
    fields.stream()
        .sorted()
        .filter(field -> OwnedFields.isNothing(wanted.get(field)))
        .filter(field -> !OwnedFields.isNothing(actual.get(field)))
        .filter(field -> !Objects.equals(actual.get(field), DEFAULTS.get(field)))
        .forEach(field -> result.add(at + "/" + field));
  }

  private static Map<?, ?> part(Map<?, ?> of, String name) {
    return map(of.get(name));
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }
}
