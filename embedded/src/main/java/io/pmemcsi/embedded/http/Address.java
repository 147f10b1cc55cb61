package io.pmemcsi.embedded.http;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The parts of the address of a resource.
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

  /** Parses a path; empty if it is not that of a resource. */
  static Optional<Address> of(List<String> path) {
    List<String> parts = new ArrayList<>(path);
    if (parts.size() < 3 || !List.of("api", "apis").contains(parts.getFirst())) {
      return Optional.empty();
    }
    String group = parts.removeFirst().equals("apis") ? parts.removeFirst() : "";
    String version = parts.removeFirst();
    String namespace = "";
    if (parts.size() > 2
        && parts.getFirst().equals("namespaces")
        && !(parts.size() == 3 && parts.getLast().equals("status"))) {
      parts.removeFirst();
      namespace = parts.removeFirst();
    }
    if (parts.isEmpty() || parts.size() > 3) {
      return Optional.empty();
    }
    return Optional.of(
        new Address(
            group,
            version,
            namespace,
            parts.get(0),
            parts.size() > 1 ? parts.get(1) : "",
            parts.size() > 2 ? parts.get(2) : ""));
  }

  static List<String> parts(URI uri) {
    return Stream.of(uri.getPath().split("/", -1)).filter(part -> !part.isEmpty()).toList();
  }

  static Map<String, String> query(URI uri) {
    Map<String, String> query = new LinkedHashMap<>();
    String raw = uri.getRawQuery() == null ? "" : uri.getRawQuery();
    for (String part : raw.split("&", -1)) {
      String[] sides = part.split("=", 2);
      if (!part.isEmpty()) {
        query.put(decoded(sides[0]), sides.length == 1 ? "" : decoded(sides[1]));
      }
    }
    return query;
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
