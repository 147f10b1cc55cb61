package io.pmemcsi.driver.volume.store;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.json.Json;
import io.pmemcsi.driver.volume.Origin;
import io.pmemcsi.driver.volume.ParameterSource;
import io.pmemcsi.driver.volume.VolumeRecord;
import io.pmemcsi.driver.volume.VolumeState;
import io.pmemcsi.driver.volume.VolumeState.Filesystem;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/** The JSON of the two kinds of state files. Whatever cannot be parsed is refused, not guessed. */
final class LedgerJson {

  private static final String COPY_OF_VOLUME = "copyOfVolume";
  private static final String COPY_OF_SNAPSHOT = "copyOfSnapshot";
  private static final String SNAPSHOT_OF = "snapshotOf";
  private static final String TAKEN_AT = "takenAt";

  private LedgerJson() {}

  static byte[] writeEntry(VolumeRecord volume) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", volume.id().value());
    json.put("size", volume.sizeBytes());
    json.put("parameters", volume.parameters().toLedger());
    return line(json);
  }

  /** The entry, as a volume without a state file. */
  static VolumeRecord readEntry(VolumeId expected, byte[] content) throws IOException {
    Json json = object(content);
    onlyKeys(json, Set.of("id", "size", "parameters"));
    String id = text(json, "id");
    if (!id.equals(expected.value())) {
      throw new IOException("it is the entry of volume \"%s\"".formatted(id));
    }
    long size =
        json.path("size")
            .number()
            .orElseThrow(
                () ->
                    new IOException(
                        "size %s is not a number of bytes".formatted(json.path("size").asText())));
    Map<String, String> parameters = new TreeMap<>();
    if (json.path("parameters") instanceof Json.Fields(Map<String, Json> values)) {
      values.forEach((key, value) -> parameters.put(key, value.asText()));
    }
    try {
      return new VolumeRecord(
          expected, size, ParameterSource.LEDGER.parse(parameters), new VolumeState.Legacy());
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** The content of the state file, empty where the state is that there is none. */
  static Optional<byte[]> writeState(VolumeRecord volume) {
    Map<String, Object> json = new LinkedHashMap<>();
    switch (volume.state()) {
      case VolumeState.Creating _ -> json.put("state", "creating");
      case VolumeState.Blank(Optional<UUID> planned) -> {
        json.put("state", "blank");
        planned.ifPresent(uuid -> json.put("uuid", uuid.toString()));
      }
      case VolumeState.Formatted(Filesystem filesystem, Optional<Filesystem> image) -> {
        json.put("state", "formatted");
        json.put("filesystem", filesystem.type());
        json.put("uuid", filesystem.uuid().toString());
        image.ifPresent(
            inside -> {
              json.put("image", inside.type());
              json.put("imageUuid", inside.uuid().toString());
            });
      }
      case VolumeState.RawBlock _ -> json.put("state", "block");
      case VolumeState.Deleting _ -> json.put("state", "deleting");
      case VolumeState.Legacy _ -> {
        return Optional.empty();
      }
    }
    switch (volume.origin()) {
      case Origin.Blank _ -> {}
      case Origin.CopyOfVolume(VolumeId source) -> json.put(COPY_OF_VOLUME, source.value());
      case Origin.CopyOfSnapshot(VolumeId source) -> json.put(COPY_OF_SNAPSHOT, source.value());
      case Origin.SnapshotOf(VolumeId source, Instant takenAt) -> {
        json.put(SNAPSHOT_OF, source.value());
        json.put(TAKEN_AT, takenAt.toString());
      }
    }
    return Optional.of(line(json));
  }

  /** What a state file holds. */
  record Stored(VolumeState state, Origin origin) {}

  static Stored readState(byte[] content) throws IOException {
    Json json = object(content);
    return new Stored(state(json), origin(json));
  }

  private static Origin origin(Json json) throws IOException {
    if (json.path(SNAPSHOT_OF).text().isPresent()) {
      return new Origin.SnapshotOf(id(json, SNAPSHOT_OF), time(json));
    }
    if (json.path(COPY_OF_SNAPSHOT).text().isPresent()) {
      return new Origin.CopyOfSnapshot(id(json, COPY_OF_SNAPSHOT));
    }
    return json.path(COPY_OF_VOLUME).text().isPresent()
        ? new Origin.CopyOfVolume(id(json, COPY_OF_VOLUME))
        : new Origin.Blank();
  }

  private static VolumeId id(Json json, String key) throws IOException {
    String id = text(json, key);
    return VolumeId.parse(id)
        .orElseThrow(() -> new IOException("%s \"%s\" is not a volume ID".formatted(key, id)));
  }

  private static Instant time(Json json) throws IOException {
    String time = text(json, TAKEN_AT);
    try {
      return Instant.parse(time);
    } catch (DateTimeParseException e) {
      throw new IOException("%s \"%s\" is not a time".formatted(TAKEN_AT, time), e);
    }
  }

  private static VolumeState state(Json json) throws IOException {
    String state = text(json, "state");
    return switch (state) {
      case "creating" -> new VolumeState.Creating();
      case "blank" -> new VolumeState.Blank(planned(json));
      case "formatted" ->
          new VolumeState.Formatted(filesystem(json, "filesystem", "uuid"), imageFilesystem(json));
      case "block" -> new VolumeState.RawBlock();
      case "deleting" -> new VolumeState.Deleting();
      default -> throw new IOException("unknown state \"%s\"".formatted(state));
    };
  }

  private static Optional<UUID> planned(Json json) throws IOException {
    return json.path("uuid").text().isPresent()
        ? Optional.of(uuid(json, "uuid"))
        : Optional.empty();
  }

  private static Optional<Filesystem> imageFilesystem(Json json) throws IOException {
    return json.path("image").text().isPresent()
        ? Optional.of(filesystem(json, "image", "imageUuid"))
        : Optional.empty();
  }

  private static Filesystem filesystem(Json json, String typeKey, String uuidKey)
      throws IOException {
    return new Filesystem(text(json, typeKey), uuid(json, uuidKey));
  }

  private static UUID uuid(Json json, String key) throws IOException {
    String uuid = text(json, key);
    try {
      return UUID.fromString(uuid);
    } catch (IllegalArgumentException e) {
      throw new IOException("%s \"%s\" is not a UUID".formatted(key, uuid), e);
    }
  }

  private static Json object(byte[] content) throws IOException {
    Json json;
    try {
      json = Json.parse(content);
    } catch (IOException e) {
      throw new IOException("it is not JSON: " + e.getMessage(), e);
    }
    if (!(json instanceof Json.Fields)) {
      throw new IOException("it is not a JSON object");
    }
    return json;
  }

  private static void onlyKeys(Json json, Set<String> known) throws IOException {
    if (json instanceof Json.Fields(Map<String, Json> values)) {
      Set<String> unknown = new TreeSet<>(values.keySet());
      unknown.removeAll(known);
      if (!unknown.isEmpty()) {
        throw new IOException("unknown keys " + unknown);
      }
    }
  }

  private static String text(Json json, String key) throws IOException {
    return json.path(key)
        .text()
        .orElseThrow(() -> new IOException("key \"%s\" is missing or no text".formatted(key)));
  }

  private static byte[] line(Map<String, Object> json) {
    return Json.line(json).getBytes(StandardCharsets.UTF_8);
  }
}
