package io.pmemcsi.controller.https;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsServer;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.http.ServerTuning;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running server with a fixed set of operations, over HTTPS or plain HTTP. */
public final class ControllerServer implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ControllerServer.class);

  private static final int DRAIN_SECONDS = 2;
  private static final String WARM_UP = "X-Warm-Up";

  /** Connections that wait to be accepted: clients reconnect all at once after a restart. */
  private static final int BACKLOG = 1024;

  /** The limits are one for both servers of a controller. */
  private static final Exchanges EXCHANGES = Exchanges.start();

  static {
    ServerTuning.apply();
  }

  /** The files of a server certificate. */
  public record TlsFiles(Path certificate, Path key, Duration reloadPeriod) {}

  /**
   * An operation with the name that it has in metrics.
   *
   * @param maxWait how long a request may wait before it is answered that there are too many
   */
  public record Route(String handler, Duration maxWait, Operation operation) {}

  private final HttpServer server;
  private final Map<String, Route> routes;
  private final RequestMetrics metrics;
  private final @Nullable ReloadingKeyManager keys;

  /** Known to this process only: requests with it are not counted. */
  private final String warmUp = UUID.randomUUID().toString();

  private volatile boolean draining;

  private ControllerServer(
      HttpServer server,
      Map<String, Route> routes,
      RequestMetrics metrics,
      @Nullable ReloadingKeyManager keys) {
    this.server = server;
    this.routes = Map.copyOf(routes);
    this.metrics = metrics;
    this.keys = keys;
  }

  /**
   * Starts to listen.
   *
   * @param tls empty for plain HTTP
   * @param routes by path
   */
  public static ControllerServer start(
      ListenAddress address,
      Optional<TlsFiles> tls,
      Map<String, Route> routes,
      RequestMetrics metrics) {
    ReloadingKeyManager keys =
        tls.map(
                files ->
                    ReloadingKeyManager.start(
                        files.certificate(), files.key(), files.reloadPeriod()))
            .orElse(null);
    try {
      HttpServer server = keys == null ? HttpServer.create() : https(keys);
      server.bind(address.resolve(), BACKLOG);
      var started = new ControllerServer(server, routes, metrics, keys);
      // the default is the thread that accepts connections, which one silent client would block
      server.setExecutor(EXCHANGES);
      server.createContext("/", started::handle);
      server.start();
      LOG.atInfo()
          .addKeyValue("address", new ListenAddress(address.host(), started.port()))
          .addKeyValue("tls", keys != null)
          .log("Scheduler extender and webhook started.");
      return started;
    } catch (IOException e) {
      if (keys != null) {
        keys.close();
      }
      throw new FatalException(
          "scheduler listening: cannot listen on %s: %s; choose another address or port"
              .formatted(address, Reason.of(e)),
          e);
    }
  }

  private static HttpServer https(ReloadingKeyManager keys) throws IOException {
    HttpsServer server = HttpsServer.create();
    server.setHttpsConfigurator(TlsPolicy.of(keys));
    return server;
  }

  /** The port in use, also where the system has chosen it. */
  public int port() {
    return server.getAddress().getPort();
  }

  /**
   * Calls an operation over a connection of its own until the code on this path is compiled: the
   * first request would otherwise take longer than callers wait.
   */
  public void warmUp(String path, byte[] body, int calls) throws IOException {
    WarmUp.run(
        server.getAddress(), Optional.ofNullable(keys), path, WARM_UP + ": " + warmUp, body, calls);
  }

  /**
   * Continues to answer, and asks each client to connect again for its next request. A server that
   * closed a connection while a request arrives would lose it: Go does not repeat a POST.
   */
  public void drain() {
    draining = true;
  }

  /** Lets requests that are being handled finish. */
  @Override
  public void close() {
    server.stop(DRAIN_SECONDS);
    if (keys != null) {
      keys.close();
    }
  }

  private void handle(HttpExchange exchange) {
    long begin = System.nanoTime();
    String method = exchange.getRequestMethod();
    Route route = routes.get(exchange.getRequestURI().getPath());
    boolean counted = !warmUp.equals(exchange.getRequestHeaders().getFirst(WARM_UP));
    if (counted) {
      metrics.begin();
    }
    int status = 0;
    int bytes = 0;
    try (exchange) {
      Response response = respond(exchange, method, route);
      status = response.status();
      bytes = response.body().length;
      if (draining) {
        exchange.getResponseHeaders().set("Connection", "close");
      }
      send(exchange, response);
    } catch (IOException e) {
      // the client has closed the connection
      LOG.atDebug().addKeyValue("cause", Reason.of(e)).log("Request was not answered.");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      if (counted) {
        metrics.end(
            route == null ? "unknown" : route.handler(),
            method,
            status,
            bytes,
            Duration.ofNanos(System.nanoTime() - begin));
      }
    }
  }

  private static Response respond(HttpExchange exchange, String method, @Nullable Route route)
      throws IOException, InterruptedException {
    if (route == null) {
      return Response.text(404, exchange.getRequestURI().getPath() + " not found");
    }
    if (!method.equals("POST") && !method.equals("GET")) {
      return Response.text(405, "method %s is not allowed: use POST".formatted(method));
    }
    try {
      byte[] body =
          RequestBody.read(exchange.getRequestBody(), length(exchange), EXCHANGES, route.maxWait());
      EXCHANGES.beginHandling();
      try {
        return route.operation().handle(body);
      } finally {
        EXCHANGES.endHandling();
      }
    } catch (RequestBody.RejectedException e) {
      return rejected(exchange, e.status(), String.valueOf(e.getMessage()));
    } catch (Exchanges.BusyException e) {
      return rejected(exchange, 503, "too many requests at the same time: try again");
    } catch (RuntimeException e) {
      LOG.atError().setCause(e).addKeyValue("handler", route.handler()).log("Request failed.");
      return Response.text(500, "%s failed: %s".formatted(route.handler(), e));
    }
  }

  private static Response rejected(HttpExchange exchange, int status, String message)
      throws IOException {
    RequestBody.discard(exchange.getRequestBody());
    exchange.getResponseHeaders().set("Connection", "close");
    return Response.text(status, message);
  }

  private static long length(HttpExchange exchange) {
    String length = exchange.getRequestHeaders().getFirst("Content-Length");
    if (length == null) {
      return exchange.getRequestHeaders().containsKey("Transfer-Encoding") ? -1 : 0;
    }
    try {
      return Long.parseLong(length.strip());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private static void send(HttpExchange exchange, Response response) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", response.contentType());
    exchange.sendResponseHeaders(
        response.status(), response.body().length == 0 ? -1 : response.body().length);
    exchange.getResponseBody().write(response.body());
  }
}
