package io.pmemcsi.driver.volume;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.driver.volume.Contents.Filesystem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** The two kinds of state files as text. Whatever cannot be understood is refused, not guessed. */
final class LedgerJson {

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private LedgerJson() {}

  static byte[] write(LedgerEntry entry) {
    ObjectNode json = JSON.createObjectNode();
    json.put("id", entry.id().value());
    json.put("size", entry.sizeBytes());
    ObjectNode parameters = json.putObject("parameters");
    entry.parameters().toLedger().forEach(parameters::put);
    return line(json);
  }

  static LedgerEntry readEntry(VolumeId expected, byte[] content) throws IOException {
    JsonNode json = object(content);
    onlyKeys(json, Set.of("id", "size", "parameters"));
    String id = text(json, "id");
    if (!id.equals(expected.value())) {
      throw new IOException("it is the entry of volume \"%s\"".formatted(id));
    }
    JsonNode size = json.path("size");
    if (!size.canConvertToLong() || !size.isIntegralNumber()) {
      throw new IOException("size %s is not a number of bytes".formatted(size));
    }
    Map<String, String> parameters = new TreeMap<>();
    json.path("parameters")
        .properties()
        .forEach(property -> parameters.put(property.getKey(), property.getValue().asText()));
    try {
      return new LedgerEntry(expected, size.longValue(), ParameterSource.LEDGER.parse(parameters));
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  static byte[] write(Contents contents) {
    ObjectNode json = JSON.createObjectNode();
    switch (contents) {
      case Contents.Creating _ -> json.put("state", "creating");
      case Contents.Blank _ -> json.put("state", "blank");
      case Contents.Formatting(Filesystem filesystem) -> put(json, "formatting", filesystem);
      case Contents.Formatted(Filesystem filesystem) -> put(json, "formatted", filesystem);
      case Contents.RawBlock _ -> json.put("state", "block");
      case Contents.Deleting _ -> json.put("state", "deleting");
    }
    return line(json);
  }

  static Contents readContents(byte[] content) throws IOException {
    JsonNode json = object(content);
    String state = text(json, "state");
    return switch (state) {
      case "creating" -> new Contents.Creating();
      case "blank" -> new Contents.Blank();
      case "formatting" -> new Contents.Formatting(filesystem(json));
      case "formatted" -> new Contents.Formatted(filesystem(json));
      case "block" -> new Contents.RawBlock();
      case "deleting" -> new Contents.Deleting();
      default -> throw new IOException("unknown state \"%s\"".formatted(state));
    };
  }

  private static void put(ObjectNode json, String state, Filesystem filesystem) {
    json.put("state", state);
    json.put("filesystem", filesystem.type());
    json.put("uuid", filesystem.uuid().toString());
  }

  private static Filesystem filesystem(JsonNode json) throws IOException {
    String uuid = text(json, "uuid");
    try {
      return new Filesystem(text(json, "filesystem"), UUID.fromString(uuid));
    } catch (IllegalArgumentException e) {
      throw new IOException("uuid \"%s\" is not a UUID".formatted(uuid), e);
    }
  }

  private static JsonNode object(byte[] content) throws IOException {
    JsonNode json;
    try {
      json = JSON.readTree(content);
    } catch (JacksonException e) {
      throw new IOException("it is not JSON: " + e.getOriginalMessage(), e);
    }
    if (!json.isObject()) {
      throw new IOException("it is not a JSON object");
    }
    return json;
  }

  private static void onlyKeys(JsonNode json, Set<String> known) throws IOException {
    Set<String> unknown = new TreeSet<>();
    json.fieldNames().forEachRemaining(unknown::add);
    unknown.removeAll(known);
    if (!unknown.isEmpty()) {
      throw new IOException("unknown keys " + unknown);
    }
  }

  private static String text(JsonNode json, String key) throws IOException {
    JsonNode value = json.path(key);
    if (!value.isTextual()) {
      throw new IOException("key \"%s\" is missing or no text".formatted(key));
    }
    return value.textValue();
  }

  private static byte[] line(ObjectNode json) {
    return (json + "\n").getBytes(StandardCharsets.UTF_8);
  }
}
