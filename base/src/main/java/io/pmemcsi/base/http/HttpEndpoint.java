package io.pmemcsi.base.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running HTTP server with a fixed set of pages. */
public final class HttpEndpoint implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(HttpEndpoint.class);
  private static final int MAX_HEADER_BYTES = 64 * 1024;

  static {
    ServerTuning.apply();
  }

  private final String host;
  private final HttpServer server;
  private final ExecutorService executor;
  private final Map<String, Page> pages;

  private HttpEndpoint(String host, HttpServer server, Map<String, Page> pages) {
    this.host = host;
    this.server = server;
    this.pages = Map.copyOf(pages);
    // the server's default is its dispatcher thread, which one idle connection would block
    this.executor = Executors.newVirtualThreadPerTaskExecutor();
  }

  /**
   * Listens immediately and logs the address; fails with one line if the address is unavailable.
   *
   * @param metrics the page that the log names
   */
  public static HttpEndpoint start(ListenAddress address, String metrics, Map<String, Page> pages) {
    try {
      HttpEndpoint endpoint =
          new HttpEndpoint(address.host(), HttpServer.create(address.resolve(), 0), pages);
      endpoint.server.setExecutor(endpoint.executor);
      endpoint.server.createContext("/", endpoint::handle);
      endpoint.server.start();
      // the port may be one that the system has chosen
      LOG.atInfo()
          .addKeyValue("endpoint", endpoint.address().url(metrics))
          .log("Prometheus endpoint started.");
      return endpoint;
    } catch (IOException e) {
      throw new FatalException(
          "cannot listen on %s: %s; choose another address or port"
              .formatted(address, Reason.of(e)),
          e);
    }
  }

  /** The port in use, also where the system has chosen it. */
  public int port() {
    return server.getAddress().getPort();
  }

  /** Where it listens, with the port in use. */
  public ListenAddress address() {
    return new ListenAddress(host, port());
  }

  @Override
  public void close() {
    server.stop(0);
    executor.shutdownNow();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Answer answer = answer(exchange);
      byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
      boolean head = exchange.getRequestMethod().equals("HEAD");
      exchange.getResponseHeaders().set("Content-Type", answer.contentType());
      exchange.sendResponseHeaders(answer.status(), head ? -1 : body.length);
      if (!head) {
        exchange.getResponseBody().write(body);
      }
    }
  }

  private Answer answer(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    Page page = pages.get(path);
    if (size(exchange.getRequestHeaders()) > MAX_HEADER_BYTES) {
      return Answer.text(
          431, "request headers are larger than %d bytes".formatted(MAX_HEADER_BYTES));
    }
    if (page == null) {
      return Answer.text(404, "%s is not here: see %s".formatted(path, String.join(", ", names())));
    }
    String method = exchange.getRequestMethod();
    if (!method.equals("GET") && !method.equals("HEAD")) {
      return Answer.text(405, "%s can only be read".formatted(path));
    }
    try {
      return page.read();
    } catch (IOException | RuntimeException e) {
      LOG.atError().setCause(e).addKeyValue("path", path).log("HTTP page failed.");
      return Answer.text(500, "%s failed: %s".formatted(path, e.getMessage()));
    }
  }

  private Iterable<String> names() {
    return pages.keySet().stream().sorted().toList();
  }

  private static long size(Headers headers) {
    return headers.entrySet().stream()
        .mapToLong(
            header ->
                header.getValue().stream()
                    .mapToLong(value -> header.getKey().length() + value.length() + 4L)
                    .sum())
        .sum();
  }
}
