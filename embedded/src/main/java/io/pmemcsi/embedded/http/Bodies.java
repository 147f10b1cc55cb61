package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.server.ApiException;
import java.io.IOException;

/** Reads the bodies of requests, JSON or YAML. */
final class Bodies {
  private static final ObjectMapper YAML = new YAMLMapper();

  private Bodies() {}

  static JsonNode parse(String contentType, byte[] body) {
    if (contentType.contains("protobuf")) {
      throw ApiException.of(
          415,
          "UnsupportedMediaType",
          "the body of the request was in an unknown format - accepted media types include:"
              + " application/json, application/yaml");
    }
    // Clients send applied configurations as JSON too, which is read much faster.
    boolean yaml = contentType.contains("yaml") && (body.length == 0 || body[0] != '{');
    try {
      return (yaml ? YAML : Json.MAPPER).readTree(body);
    } catch (IOException e) {
      throw ApiException.of(
          400, "BadRequest", "the body of the request cannot be read: " + e.getMessage());
    }
  }
}
