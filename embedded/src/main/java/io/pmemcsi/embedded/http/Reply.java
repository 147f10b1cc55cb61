package io.pmemcsi.embedded.http;

import com.sun.net.httpserver.HttpExchange;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.server.ApiAnswer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** What is answered to a request, ready to be sent. */
interface Reply {
  void send(HttpExchange exchange) throws IOException, InterruptedException;

  static Reply json(ApiAnswer answer) {
    return exchange ->
        send(
            exchange,
            answer.code(),
            "application/json",
            Json.MAPPER.writeValueAsBytes(answer.body()));
  }

  static Reply text(int code, String text) {
    return exchange -> send(exchange, code, "text/plain", text.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int code, String contentType, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", contentType);
    exchange.sendResponseHeaders(code, body.length);
    exchange.getResponseBody().write(body);
  }
}
