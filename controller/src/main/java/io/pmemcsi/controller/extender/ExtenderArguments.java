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
 * @param namesText where they stand in the request, if they are given by name
 * @param objects their whole objects, where the scheduler is configured without {@code
 *     nodeCacheCapable}
 */
record ExtenderArguments(
    PodVolumes pod,
    List<String> names,
    Optional<Text> namesText,
    Optional<Map<String, Text>> objects) {

  private static final JsonFactory JSON = new JsonFactory();

  /** Where a piece of JSON begins and ends in the request. */
  record Text(int begin, int end) {}

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
    Text namesText = null;
    Map<String, Text> objects = null;
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
          case "nodenames" -> {
            if (value == JsonToken.START_ARRAY) {
              int begin = (int) parser.currentTokenLocation().getByteOffset();
              names = names(parser);
              namesText = new Text(begin, (int) parser.currentLocation().getByteOffset());
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
      return new ExtenderArguments(pod, names, Optional.ofNullable(namesText), Optional.empty());
    }
    if (objects == null) {
      throw new IncompleteException();
    }
    return new ExtenderArguments(
        pod, objects.keySet().stream().sorted().toList(), Optional.empty(), Optional.of(objects));
  }

  private static List<String> names(JsonParser parser) throws IOException {
    var names = new ArrayList<String>();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      names.add(parser.getText());
    }
    return names;
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
          objects.put(name, new Text(begin, (int) parser.currentLocation().getByteOffset()));
        }
      } else {
        parser.skipChildren();
      }
    }
    return objects;
  }
}
