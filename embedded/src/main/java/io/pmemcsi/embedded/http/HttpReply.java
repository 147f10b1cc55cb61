package io.pmemcsi.embedded.http;

import com.sun.net.httpserver.HttpExchange;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.server.ApiResponse;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;

/** A response that is ready to be sent. */
interface HttpReply {

  void send(HttpExchange exchange) throws IOException, InterruptedException;

  static HttpReply json(ApiResponse response) {
    return exchange -> {
      byte[] body = Json.MAPPER.writeValueAsBytes(response.body());
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(response.code(), body.length);
      exchange.getResponseBody().write(body);
    };
  }

  /** A request that is not carried out yet: a fault decides when and whether it is. */
  interface Pending {
    /**
     * Carries out the request.
     *
     * @param state what a read returns; a write always changes the current state
     */
    HttpReply run(Store.At state);
  }

  /** Leaves the handler, so that the HTTP server closes the connection without another byte. */
  final class CutException extends RuntimeException {
    CutException() {
      super("connection cut by an injected fault", null, false, false);
    }
  }
}
