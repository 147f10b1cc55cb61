package io.pmemcsi.operator.runtime;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.util.List;

/**
 * Lets a client watch objects with characters outside of ASCII by plain HTTP, as it does where a
 * proxy knows no WebSockets. The client reads each piece of such an answer by itself, with zeros at
 * its end for each further byte of a character (WatchHTTPManager of 7.8.0): the next event is then
 * no JSON for it, and the watch ends for good. JSON can say the same in ASCII.
 */
final class AsciiWatchInterceptor implements Interceptor {

  @Override
  public AsyncBody.Consumer<List<ByteBuffer>> consumer(
      AsyncBody.Consumer<List<ByteBuffer>> consumer, HttpRequest request) {
    String query = request.uri().getQuery();
    if (query == null || !query.contains("watch=true")) {
      return consumer;
    }
    var escaping = new Escaping();
    return (pieces, body) -> consumer.consume(pieces.stream().map(escaping::escape).toList(), body);
  }

  /**
   * Writes what comes outside of ASCII as JSON does it, of which characters may come in two pieces.
   */
  static final class Escaping {

    private final CharsetDecoder decoder =
        UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    private ByteBuffer incomplete = ByteBuffer.allocate(0);

    ByteBuffer escape(ByteBuffer piece) {
      if (!incomplete.hasRemaining() && isAscii(piece)) {
        return piece;
      }
      ByteBuffer bytes =
          ByteBuffer.allocate(incomplete.remaining() + piece.remaining())
              .put(incomplete)
              .put(piece)
              .flip();
      CharBuffer characters = CharBuffer.allocate(bytes.remaining());
      decoder.decode(bytes, characters, false);
      incomplete = bytes;
      var escaped = new StringBuilder();
      characters
          .flip()
          .chars()
          .forEach(
              character -> {
                if (character < 0x80) {
                  escaped.append((char) character);
                } else {
                  escaped.append("\\u%04x".formatted(character));
                }
              });
      return US_ASCII.encode(escaped.toString());
    }

    private static boolean isAscii(ByteBuffer piece) {
      for (int i = piece.position(); i < piece.limit(); i++) {
        if (piece.get(i) < 0) {
          return false;
        }
      }
      return true;
    }
  }
}
