package io.pmemcsi.controller.extender;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.pmemcsi.controller.volume.PodJson;
import io.pmemcsi.controller.volume.PodVolumes;
import java.io.IOException;
import java.util.ArrayList;
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
 * @param objects their whole objects, where the scheduler is configured without {@code
 *     nodeCacheCapable}
 */
record ExtenderArguments(
    PodVolumes pod, List<String> names, Optional<Map<String, NodeObject>> objects) {

  private static final JsonFactory JSON = new JsonFactory();

  /** Where the JSON text of a node begins and ends in the request. */
  record NodeObject(int begin, int end) {}

  /** The request lacks the pod or the nodes. */
  static final class IncompleteException extends IOException {
    private static final long serialVersionUID = 1;

    IncompleteException() {
      super("incomplete parameters");
    }
  }

  static ExtenderArguments read(byte[] body) throws IOException {
    PodVolumes pod = null;
    List<String> names = null;
    Map<String, NodeObject> objects = null;
    try (JsonParser parser = JSON.createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new IncompleteException();
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName().toLowerCase(Locale.ROOT);
        JsonToken value = parser.nextToken();
        switch (field) {
          case "pod" ->
              pod = value == JsonToken.START_OBJECT ? PodJson.read(parser).volumes("") : null;
          case "nodenames" -> names = value == JsonToken.START_ARRAY ? names(parser) : null;
          case "nodes" -> objects = value == JsonToken.START_OBJECT ? objects(parser) : null;
          default -> parser.skipChildren();
        }
      }
    }
    if (pod == null || pod.name().isEmpty()) {
      throw new IncompleteException();
    }
    if (names != null) {
      return new ExtenderArguments(pod, names, Optional.empty());
    }
    if (objects == null) {
      throw new IncompleteException();
    }
    return new ExtenderArguments(
        pod, objects.keySet().stream().sorted().toList(), Optional.of(objects));
  }

  private static List<String> names(JsonParser parser) throws IOException {
    var names = new ArrayList<String>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      names.add(parser.getText());
    }
    return names;
  }

  private static @Nullable Map<String, NodeObject> objects(JsonParser parser) throws IOException {
    Map<String, NodeObject> objects = null;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean items = parser.currentName().equalsIgnoreCase("items");
      JsonToken value = parser.nextToken();
      if (items && value == JsonToken.START_ARRAY) {
        objects = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.START_OBJECT) {
          int begin = (int) parser.currentTokenLocation().getByteOffset();
          String name = PodJson.read(parser).volumes("").name();
          objects.put(name, new NodeObject(begin, (int) parser.currentLocation().getByteOffset()));
        }
      } else {
        parser.skipChildren();
      }
    }
    return objects;
  }
}
