package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.pmemcsi.embedded.fault.Faults;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.Api;
import io.pmemcsi.embedded.server.ApiAnswer;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.server.ServerVersion;
import io.pmemcsi.embedded.server.Verb;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Takes HTTP requests, lets faults have their say, and hands the rest to the API. */
public final class Front implements HttpHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Front.class);

  private final Api api;
  private final Store store;
  private final ServerVersion version;
  private final Faults faults;
  private final RequestLog log;
  private final Watches watches;

  public Front(
      Api api, Store store, ServerVersion version, Faults faults, RequestLog log, Watches watches) {
    this.api = api;
    this.store = store;
    this.version = version;
    this.faults = faults;
    this.log = log;
    this.watches = watches;
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try {
      answerOrRefuse(exchange);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new CutException();
    }
    // Not after a cut: closing would end the answer in good order.
    exchange.close();
  }

  private void answerOrRefuse(HttpExchange exchange) throws IOException, InterruptedException {
    try {
      answer(exchange);
    } catch (ApiException e) {
      send(exchange, e.answer());
    } catch (CutException e) {
      throw e;
    } catch (RuntimeException e) {
      LOG.atError()
          .addKeyValue("method", exchange.getRequestMethod())
          .addKeyValue("uri", exchange.getRequestURI())
          .setCause(e)
          .log("request failed inside the embedded API");
      send(exchange, ApiException.of(500, "InternalError", e.toString()).answer());
    }
  }

  private void answer(HttpExchange exchange) throws IOException, InterruptedException {
    byte[] bytes = exchange.getRequestBody().readAllBytes();
    List<String> path = Address.parts(exchange.getRequestURI());
    if (path.size() == 1 && List.of("healthz", "livez", "readyz").contains(path.getFirst())) {
      send(exchange, 200, "text/plain", "ok".getBytes(StandardCharsets.UTF_8));
      return;
    }
    Store.At now = store.now();
    Optional<ObjectNode> page = new Discovery(api.catalog().all(now.objects()), version).page(path);
    if (page.isPresent()) {
      if (faults.isCutOff()) {
        throw new CutException();
      }
      send(exchange, new ApiAnswer(200, page.get()));
      return;
    }
    Optional<Address> known = Address.of(path);
    Optional<ResourceType> found =
        known.flatMap(a -> api.catalog().find(now.objects(), a.group(), a.version(), a.plural()));
    if (found.isEmpty()) {
      send(exchange, 404, "text/plain", "404 page not found\n".getBytes(StandardCharsets.UTF_8));
      return;
    }
    Address address = known.orElseThrow();
    ResourceType type = found.get();
    if (header(exchange, "Upgrade").equalsIgnoreCase("websocket")) {
      // A plain answer makes clients watch by HTTP, as they do behind proxies without WebSockets.
      send(exchange, 200, "application/json", "{}".getBytes(StandardCharsets.UTF_8));
      return;
    }
    resource(exchange, request(exchange, address, type, bytes), now);
  }

  private ApiRequest request(
      HttpExchange exchange, Address address, ResourceType type, byte[] bytes) {
    Map<String, String> query = Address.query(exchange.getRequestURI());
    Verb verb = verb(exchange.getRequestMethod(), address, query);
    checkSubresource(type, address);
    String contentType = header(exchange, "Content-Type").split(";", 2)[0].strip();
    Optional<JsonNode> body =
        bytes.length == 0 ? Optional.empty() : Optional.of(Bodies.parse(contentType, bytes));
    return new ApiRequest(
        verb,
        type,
        address.namespace(),
        address.name(),
        address.subresource(),
        query,
        contentType,
        body,
        header(exchange, "User-Agent"));
  }

  private static void checkSubresource(ResourceType type, Address address) {
    boolean known =
        switch (address.subresource()) {
          case "" -> true;
          case "status" -> type.status();
          case "scale" -> type.scale();
          default -> false;
        };
    if (!known) {
      throw ApiException.noSuchPart(type, address.name());
    }
  }

  private static Verb verb(String method, Address address, Map<String, String> query) {
    boolean one = !address.name().isEmpty();
    String watch = query.getOrDefault("watch", "false");
    return switch (method) {
      case "GET" -> {
        if (one) {
          yield Verb.GET; // a single object is not watched, whatever the parameters say
        }
        yield watch.equals("true") || watch.equals("1") ? Verb.WATCH : Verb.LIST;
      }
      case "POST" -> require(!one, Verb.CREATE);
      case "PUT" -> require(one, Verb.UPDATE);
      case "PATCH" -> require(one, Verb.PATCH);
      case "DELETE" -> one ? Verb.DELETE : Verb.DELETECOLLECTION;
      default -> throw ApiException.methodNotAllowed();
    };
  }

  private static Verb require(boolean fits, Verb verb) {
    if (!fits) {
      throw ApiException.methodNotAllowed();
    }
    return verb;
  }

  private void resource(HttpExchange exchange, ApiRequest request, Store.At now)
      throws IOException, InterruptedException {
    SeenRequest seen =
        new SeenRequest(
            log.nextNumber(),
            request.verb().name().toLowerCase(Locale.ROOT),
            request.type().group(),
            request.type().plural(),
            request.namespace(),
            request.name(),
            request.subresource(),
            request.body().isPresent() ? request.contentType() : "",
            request.query());
    log.add(seen);
    RequestFault fault = faults.onRequest(seen);
    LOG.atTrace().addKeyValue("request", seen).addKeyValue("fault", fault).log("embedded API");
    switch (fault) {
      case RequestFault.Fail(int code, Moment moment) -> {
        if (moment == Moment.AFTER && request.verb().writes()) {
          api.write(request);
        }
        throw ApiException.of(code, reason(code), "failed on demand");
      }
      case RequestFault.Cut(Moment moment) -> {
        if (moment == Moment.AFTER && request.verb().writes()) {
          api.write(request);
        }
        throw new CutException();
      }
      case RequestFault.Delay(var duration, var moment) -> {
        if (!duration.isPositive()) {
          perform(exchange, request, seen, now);
        } else if (moment == Moment.BEFORE || request.verb() == Verb.WATCH) {
          Thread.sleep(duration);
          perform(exchange, request, seen, store.now());
        } else {
          var answer = answer(request, now);
          Thread.sleep(duration);
          send(exchange, answer);
        }
      }
      case RequestFault.Hold(var until) -> {
        if (request.verb() == Verb.WATCH) {
          until.await();
          perform(exchange, request, seen, store.now());
        } else {
          var answer = answer(request, now);
          until.await();
          send(exchange, answer);
        }
      }
      case RequestFault.Stale(int changes) ->
          perform(exchange, request, seen, store.at(now.revision() - changes));
    }
  }

  private void perform(HttpExchange exchange, ApiRequest request, SeenRequest seen, Store.At view)
      throws IOException, InterruptedException {
    if (request.verb() == Verb.WATCH) {
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      watches.serve(exchange, request, seen.number(), faults);
    } else {
      send(exchange, answer(request, view));
    }
  }

  private ApiAnswer answer(ApiRequest request, Store.At view) {
    return request.verb().writes() ? api.write(request) : api.read(request, view);
  }

  private static String reason(int code) {
    return switch (code) {
      case 401 -> "Unauthorized";
      case 403 -> "Forbidden";
      case 404 -> "NotFound";
      case 409 -> "Conflict";
      case 410 -> "Expired";
      case 429 -> "TooManyRequests";
      case 503 -> "ServiceUnavailable";
      case 504 -> "Timeout";
      default -> "InternalError";
    };
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }

  private static void send(HttpExchange exchange, ApiAnswer answer) throws IOException {
    send(exchange, answer.code(), "application/json", Json.MAPPER.writeValueAsBytes(answer.body()));
  }

  private static void send(HttpExchange exchange, int code, String contentType, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", contentType);
    exchange.sendResponseHeaders(code, body.length);
    exchange.getResponseBody().write(body);
  }
}
