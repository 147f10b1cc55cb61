package io.pmemcsi.app.settings;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.pmemcsi.base.error.UsageException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Node labels as {@code -nodeSelector} carries them: a JSON object with text values. */
public record NodeSelector(Map<String, String> labels) {

  private static final JsonFactory JSON = new JsonFactory();

  public NodeSelector {
    labels = Map.copyOf(labels);
  }

  /** Reads the flag's value; empty text selects no label. */
  public static NodeSelector parse(String text) {
    Map<String, String> labels = new LinkedHashMap<>();
    if (text.isBlank()) {
      return new NodeSelector(labels);
    }
    try (JsonParser parser = JSON.createParser(text)) {
      boolean object = parser.nextToken() == JsonToken.START_OBJECT;
      while (object && parser.nextToken() == JsonToken.FIELD_NAME) {
        String key = parser.currentName();
        if (parser.nextToken() != JsonToken.VALUE_STRING) {
          throw wrong(text);
        }
        labels.put(key, parser.getText());
      }
      if (!object || parser.nextToken() != null) {
        throw wrong(text);
      }
    } catch (JacksonException e) {
      throw wrong(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new NodeSelector(labels);
  }

  private static UsageException wrong(String text) {
    return new UsageException(
        "-nodeSelector=%s is no JSON object with text values: write for example {\"storage\":\"pmem\"}"
            .formatted(text));
  }
}
