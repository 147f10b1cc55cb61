package io.pmemcsi.controller.https;

import java.nio.charset.StandardCharsets;

/** The answer to a request. */
@SuppressWarnings("ArrayRecordComponent") // written once, never compared
public record Response(int status, String contentType, byte[] body) {

  public static Response json(byte[] body) {
    return new Response(200, "application/json", body);
  }

  /** One line of plain text. */
  public static Response text(int status, String line) {
    return new Response(
        status, "text/plain; charset=utf-8", (line + "\n").getBytes(StandardCharsets.UTF_8));
  }
}
