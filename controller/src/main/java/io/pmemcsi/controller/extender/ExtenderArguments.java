package io.pmemcsi.controller.extender;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.pmemcsi.controller.volume.PodJson;
import io.pmemcsi.controller.volume.PodVolumes;
import io.pmemcsi.controller.volume.RequestJson;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The question of a scheduler. Go writes and reads the keys without regard to case.
 *
 * @param names the nodes in question
 * @param byName the same, if they are given by name
 * @param objects their whole objects, where the scheduler is configured without {@code
 *     nodeCacheCapable}
 */
record ExtenderArguments(
    PodVolumes pod,
    List<String> names,
    Optional<NodeNames> byName,
    Optional<Map<String, Text>> objects) {

  /** Twice what Kubernetes supports. */
  static final int MAX_NODES = 10_000;

  /** Where a piece of JSON begins and ends in the request. */
  record Text(int begin, int end) {}

  /** The request lacks the pod or the nodes. */
  static final class IncompleteException extends IOException {
    private static final long serialVersionUID = 1;

    IncompleteException() {
      super("incomplete parameters");
    }
  }

  /**
   * Reads a request.
   *
   * @param previous the names of an earlier one
   */
  static ExtenderArguments read(byte[] body, Optional<NodeNames> previous) throws IOException {
    PodVolumes pod = null;
    NodeNames names = null;
    Map<String, Text> objects = null;
    try (JsonParser parser = RequestJson.FACTORY.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IncompleteException();
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName().toLowerCase(Locale.ROOT);
        JsonToken value = parser.nextToken();
        switch (field) {
          case "pod" ->
              pod = value == JsonToken.START_OBJECT ? PodJson.read(parser).volumes("") : null;
          case "nodenames" -> {
            if (value == JsonToken.START_ARRAY) {
              int begin = (int) parser.currentTokenLocation().getByteOffset();
              parser.skipChildren();
              int end = (int) parser.currentLocation().getByteOffset();
              names = NodeNames.read(body, begin, end, previous);
            }
          }
          case "nodes" -> objects = value == JsonToken.START_OBJECT ? objects(parser) : null;
          default -> parser.skipChildren();
        }
      }
    }
    if (pod == null || pod.name().isEmpty()) {
      throw new IncompleteException();
    }
    if (names != null) {
      return new ExtenderArguments(pod, names.names(), Optional.of(names), Optional.empty());
    }
    if (objects == null) {
      throw new IncompleteException();
    }
    return new ExtenderArguments(
        pod, objects.keySet().stream().sorted().toList(), Optional.empty(), Optional.of(objects));
  }

  private static @Nullable Map<String, Text> objects(JsonParser parser) throws IOException {
    Map<String, Text> objects = null;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean items = parser.currentName().equalsIgnoreCase("items");
      JsonToken value = parser.nextToken();
      if (items && value == JsonToken.START_ARRAY) {
        objects = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.START_OBJECT) {
          int begin = (int) parser.currentTokenLocation().getByteOffset();
          String name = PodJson.read(parser).volumes("").name();
          NodeNames.checkNumber(objects.size());
          objects.put(name, new Text(begin, (int) parser.currentLocation().getByteOffset()));
        }
      } else {
        parser.skipChildren();
      }
    }
    return objects;
  }
}
