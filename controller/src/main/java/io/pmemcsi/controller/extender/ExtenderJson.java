package io.pmemcsi.controller.extender;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.pmemcsi.controller.capacity.FilterResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Answers in the scheduler's format: ExtenderFilterResult and HostPriorityList. */
final class ExtenderJson {

  private static final JsonFactory JSON = new JsonFactory();
  private static final int PRIORITY_LENGTH = 64;

  private ExtenderJson() {}

  static byte[] error(String message) {
    return write(
        256,
        json -> {
          json.writeStartObject();
          json.writeStringField("Error", message);
          json.writeEndObject();
        });
  }

  /**
   * The nodes that passed, in the form in which they came.
   *
   * @param request has the text of whole nodes, which is copied
   */
  static byte[] filterResult(byte[] request, ExtenderArguments arguments, FilterResult result) {
    if (result.refused().isEmpty() && arguments.byName().isPresent()) {
      return allPassed(arguments.byName().get());
    }
    return write(
        request.length + 256,
        json -> {
          json.writeStartObject();
          if (arguments.objects().isPresent()) {
            nodes(json, request, arguments.objects().get(), result.passed());
          } else {
            json.writeArrayFieldStart("NodeNames");
            for (String name : result.passed()) {
              json.writeString(name);
            }
            json.writeEndArray();
          }
          json.writeObjectFieldStart("FailedNodes");
          for (Map.Entry<String, String> refused : result.refused().entrySet()) {
            json.writeStringField(refused.getKey(), refused.getValue());
          }
          json.writeEndObject();
          json.writeEndObject();
        });
  }

  /** Most nodes of a large cluster pass: their names need not be written one by one. */
  private static byte[] allPassed(NodeNames names) {
    byte[] begin = ascii("{\"NodeNames\":");
    byte[] end = ascii(",\"FailedNodes\":{}}");
    int length = names.end() - names.begin();
    return ByteBuffer.allocate(begin.length + length + end.length)
        .put(begin)
        .put(names.request(), names.begin(), length)
        .put(end)
        .array();
  }

  static byte[] priorities(ExtenderArguments arguments, int[] scores) {
    List<String> names = arguments.names();
    Optional<NodeNames> plain = arguments.byName().filter(NodeNames::plain);
    if (plain.isPresent()) {
      return plainPriorities(plain.get(), scores);
    }
    return write(
        names.size() * PRIORITY_LENGTH,
        json -> {
          json.writeStartArray();
          for (int i = 0; i < names.size(); i++) {
            json.writeStartObject();
            json.writeStringField("Host", names.get(i));
            json.writeNumberField("Score", scores[i]);
            json.writeEndObject();
          }
          json.writeEndArray();
        });
  }

  /** The same with names that are copied: for 5,000 of them a tenth of a generator's time. */
  private static byte[] plainPriorities(NodeNames names, int[] scores) {
    byte[] host = ascii(",{\"Host\":\"");
    byte[] score = ascii("\",\"Score\":");
    int length = 1 + scores.length * (host.length + score.length + 1);
    for (int i = 0; i < scores.length; i++) {
      length += names.names().get(i).length() + (scores[i] < 10 ? 1 : 2);
    }
    ByteBuffer json = ByteBuffer.allocate(Math.max(2, length));
    json.put((byte) '[');
    int from = names.begin();
    for (int i = 0; i < scores.length; i++) {
      int name = names.names().get(i).length();
      while (names.request()[from] != '"') {
        from++;
      }
      json.put(host, i == 0 ? 1 : 0, i == 0 ? host.length - 1 : host.length)
          .put(names.request(), from + 1, name)
          .put(score);
      if (scores[i] >= 10) {
        json.put((byte) ('0' + scores[i] / 10));
      }
      json.put((byte) ('0' + scores[i] % 10)).put((byte) '}');
      from += name + 2;
    }
    return json.put((byte) ']').array();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static void nodes(
      JsonGenerator json,
      byte[] request,
      Map<String, ExtenderArguments.Text> objects,
      List<String> passed)
      throws IOException {
    json.writeObjectFieldStart("Nodes");
    json.writeObjectFieldStart("metadata");
    json.writeEndObject();
    json.writeArrayFieldStart("items");
    for (String name : passed) {
      var object = objects.get(name);
      if (object != null) {
        json.writeRawValue(
            new String(
                request, object.begin(), object.end() - object.begin(), StandardCharsets.UTF_8));
      }
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private interface Content {
    void write(JsonGenerator json) throws IOException;
  }

  private static byte[] write(int size, Content content) {
    var bytes = new ByteArrayOutputStream(size);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      content.write(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
