package io.pmemcsi.embedded.http;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The address of a resource, taken apart.
 *
 * @param namespace "" for cluster-scoped resources and all namespaces
 * @param name "" for the collection
 */
record Address(
    String group,
    String version,
    String namespace,
    String plural,
    String name,
    String subresource) {

  /** Takes a path apart; empty if it is not that of a resource. */
  static Optional<Address> of(List<String> parts) {
    List<String> rest = new ArrayList<>(parts);
    if (rest.isEmpty()) {
      return Optional.empty();
    }
    String root = rest.removeFirst();
    String group = "";
    if (root.equals("apis") && !rest.isEmpty()) {
      group = rest.removeFirst();
    } else if (!root.equals("api")) {
      return Optional.empty();
    }
    if (rest.size() < 2) {
      return Optional.empty();
    }
    String version = rest.removeFirst();
    String namespace = "";
    boolean namespaceItself =
        rest.size() <= 2
            || (rest.size() == 3 && List.of("status", "finalize").contains(rest.get(2)));
    if (rest.getFirst().equals("namespaces") && !namespaceItself) {
      rest.removeFirst();
      namespace = rest.removeFirst();
    }
    if (rest.size() > 3) {
      return Optional.empty();
    }
    return Optional.of(
        new Address(
            group,
            version,
            namespace,
            rest.get(0),
            rest.size() > 1 ? rest.get(1) : "",
            rest.size() > 2 ? rest.get(2) : ""));
  }

  static List<String> parts(URI uri) {
    List<String> parts = new ArrayList<>();
    for (String part : uri.getRawPath().split("/", -1)) {
      if (!part.isEmpty()) {
        parts.add(URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8));
      }
    }
    return parts;
  }

  static Map<String, String> query(URI uri) {
    Map<String, String> query = new LinkedHashMap<>();
    String raw = uri.getRawQuery();
    if (raw != null) {
      for (String part : raw.split("&", -1)) {
        int equals = part.indexOf('=');
        String name = equals < 0 ? part : part.substring(0, equals);
        String value = equals < 0 ? "" : part.substring(equals + 1);
        query.put(
            URLDecoder.decode(name, StandardCharsets.UTF_8),
            URLDecoder.decode(value, StandardCharsets.UTF_8));
      }
    }
    return query;
  }
}
