package io.pmemcsi.controller.extender;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.pmemcsi.controller.volume.RequestJson;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The names of nodes in a request, thousands in a large cluster, with the JSON that has them.
 *
 * @param request the whole request
 * @param begin where the array begins in it
 * @param end behind the array
 * @param plain whether the names have no character that JSON would escape
 */
@SuppressWarnings("ArrayRecordComponent") // never compared as a record
record NodeNames(byte[] request, int begin, int end, List<String> names, boolean plain) {

  private static final int USUAL_LENGTH = 32;

  /**
   * Reads an array that is valid JSON.
   *
   * @param previous the names of an earlier request: a scheduler asks for the priorities of just
   *     those nodes that passed the filter before
   */
  static NodeNames read(byte[] request, int begin, int end, Optional<NodeNames> previous)
      throws IOException {
    if (previous.filter(names -> names.hasText(request, begin, end)).isPresent()) {
      return previous.get();
    }
    Optional<List<String>> plain = plain(request, begin, end);
    return plain.isPresent()
        ? new NodeNames(request, begin, end, plain.get(), true)
        : new NodeNames(request, begin, end, escaped(request, begin, end), false);
  }

  private boolean hasText(byte[] other, int otherBegin, int otherEnd) {
    return Arrays.equals(request, begin, end, other, otherBegin, otherEnd);
  }

  /** A fraction of the cost of a parser; empty if this is not a list of simple strings. */
  private static Optional<List<String>> plain(byte[] json, int begin, int end) throws IOException {
    var names =
        new ArrayList<String>(Math.min(ExtenderArguments.MAX_NODES, (end - begin) / USUAL_LENGTH));
    for (int i = begin + 1; i < end - 1; i++) {
      switch (json[i]) {
        case ',', ' ', '\n', '\r', '\t' -> {}
        case '"' -> {
          int first = i + 1;
          for (i = first; json[i] != '"'; i++) {
            // bytes of characters outside of ASCII are negative
            if (json[i] < ' ' || json[i] == '\\') {
              return Optional.empty();
            }
          }
          checkNumber(names.size());
          names.add(new String(json, first, i - first, StandardCharsets.ISO_8859_1));
        }
        default -> {
          return Optional.empty();
        }
      }
    }
    return Optional.of(names);
  }

  /** An answer takes much more memory than a short name in a request. */
  static void checkNumber(int present) throws IOException {
    if (present >= ExtenderArguments.MAX_NODES) {
      throw new IOException(
          "the request has more than %d nodes".formatted(ExtenderArguments.MAX_NODES));
    }
  }

  private static List<String> escaped(byte[] json, int begin, int end) throws IOException {
    var names = new ArrayList<String>();
    try (JsonParser parser = RequestJson.FACTORY.createParser(json, begin, end - begin)) {
      parser.nextToken();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        checkNumber(names.size());
        names.add(parser.getText());
      }
    }
    return names;
  }
}
