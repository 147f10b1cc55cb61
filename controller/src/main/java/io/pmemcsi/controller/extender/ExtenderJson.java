package io.pmemcsi.controller.extender;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.pmemcsi.controller.capacity.FilterResult;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Answers in the scheduler's format: ExtenderFilterResult and HostPriorityList. */
final class ExtenderJson {

  private static final JsonFactory JSON = new JsonFactory();

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
    if (result.refused().isEmpty() && arguments.namesText().isPresent()) {
      return allPassed(request, arguments.namesText().get());
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
  private static byte[] allPassed(byte[] request, ExtenderArguments.Text names) {
    byte[] begin = "{\"NodeNames\":".getBytes(StandardCharsets.US_ASCII);
    byte[] end = ",\"FailedNodes\":{}}".getBytes(StandardCharsets.US_ASCII);
    int length = names.end() - names.begin();
    var bytes = new ByteArrayOutputStream(begin.length + length + end.length);
    bytes.writeBytes(begin);
    bytes.write(request, names.begin(), length);
    bytes.writeBytes(end);
    return bytes.toByteArray();
  }

  static byte[] priorities(List<String> names, int[] scores) {
    return write(
        names.size() * 48 + 64,
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
