package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.pmemcsi.embedded.fault.Faults;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.embedded.http.HttpReply.CutException;
import io.pmemcsi.embedded.http.HttpReply.Pending;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.Api;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.server.ApiResponse;
import io.pmemcsi.embedded.server.Verb;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Handles HTTP requests: parses them, injects faults and calls the API. */
public final class ApiHandler implements HttpHandler {
  private static final Logger LOG = LoggerFactory.getLogger(ApiHandler.class);
  private static final YAMLMapper YAML = new YAMLMapper();

  private final Api api;
  private final Store store;
  private final Faults faults;
  private final RequestLog log;
  private final Watches watches;

  public ApiHandler(Api api, Store store, Faults faults, RequestLog log, Watches watches) {
    this.api = api;
    this.store = store;
    this.faults = faults;
    this.log = log;
    this.watches = watches;
  }

  @Override
  public void handle(HttpExchange exchange) throws IOException {
    try {
      respondOrRefuse(exchange);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new CutException();
    }
    // Not after a cut: closing would end the response regularly.
    exchange.close();
  }

  private void respondOrRefuse(HttpExchange exchange) throws IOException, InterruptedException {
    try {
      respond(exchange);
    } catch (ApiException e) {
      HttpReply.json(e.response()).send(exchange);
    } catch (CutException e) {
      throw e;
    } catch (RuntimeException e) {
      LOG.atError()
          .addKeyValue("method", exchange.getRequestMethod())
          .addKeyValue("uri", exchange.getRequestURI())
          .setCause(e)
          .log("request failed inside the embedded API");
      HttpReply.json(ApiException.of(500, "InternalError", e.toString()).response()).send(exchange);
    }
  }

  private void respond(HttpExchange exchange) throws IOException, InterruptedException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    List<String> path = Address.parts(exchange.getRequestURI());
    Optional<Address> address = Address.of(path);
    Optional<ResourceType> type =
        address.flatMap(
            a -> api.catalog().find(store.now().objects(), a.group(), a.version(), a.plural()));
    if (type.isEmpty()) {
      SeenRequest seen =
          SeenRequest.ofPage(
              log.nextNumber(), exchange.getRequestMethod(), exchange.getRequestURI().getPath());
      respond(exchange, seen, state -> page(path, state));
    } else if (header(exchange, "Upgrade").equalsIgnoreCase("websocket")) {
      // Clients then watch with plain HTTP, as they do behind proxies without WebSockets.
      HttpReply.json(new ApiResponse(200, Json.object())).send(exchange);
    } else {
      resource(exchange, request(exchange, address.orElseThrow(), type.get(), body));
    }
  }

  private void respond(HttpExchange exchange, SeenRequest seen, Pending request)
      throws IOException, InterruptedException {
    log.add(seen);
    new FaultInjector(faults, store).respond(exchange, seen, request);
  }

  private HttpReply page(List<String> path, Store.At state) {
    return new Discovery(api.catalog().all(state.objects()), api.catalog().version())
        .document(path)
        .map(document -> HttpReply.json(new ApiResponse(200, document)))
        .orElseThrow(ApiException::notServed);
  }

  private static ApiRequest request(
      HttpExchange exchange, Address address, ResourceType type, byte[] bytes) {
    Map<String, String> query = Address.query(exchange.getRequestURI());
    String contentType = header(exchange, "Content-Type").split(";", 2)[0].strip();
    if (!address.subresource().isEmpty()
        && !(address.subresource().equals("status") && type.status())) {
      throw ApiException.notServed();
    }
    return new ApiRequest(
        verb(exchange.getRequestMethod(), address, query),
        type,
        address.namespace(),
        address.name(),
        address.subresource(),
        query,
        contentType,
        bytes.length == 0 ? Optional.empty() : Optional.of(parse(contentType, bytes)),
        header(exchange, "User-Agent"));
  }

  private static JsonNode parse(String contentType, byte[] body) {
    // Clients send applied configurations as JSON too, which is parsed much faster.
    boolean yaml = contentType.contains("yaml") && body[0] != '{';
    try {
      return (yaml ? YAML : Json.MAPPER).readTree(body);
    } catch (IOException e) {
      throw ApiException.of(400, "BadRequest", "cannot parse the body: " + e.getMessage());
    }
  }

  private static Verb verb(String method, Address address, Map<String, String> query) {
    boolean collection = address.name().isEmpty();
    boolean watch = query.getOrDefault("watch", "").equals("true");
    Verb verb =
        switch (method) {
          case "GET" -> collection ? (watch ? Verb.WATCH : Verb.LIST) : Verb.GET;
          case "POST" -> Verb.CREATE;
          case "PUT" -> Verb.UPDATE;
          case "PATCH" -> Verb.PATCH;
          case "DELETE" -> Verb.DELETE;
          default -> throw ApiException.methodNotAllowed();
        };
    if (verb.writes() && collection != (verb == Verb.CREATE)) {
      throw ApiException.methodNotAllowed();
    }
    return verb;
  }

  private void resource(HttpExchange exchange, ApiRequest request)
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
    respond(exchange, seen, state -> reply(request, seen, state));
  }

  private HttpReply reply(ApiRequest request, SeenRequest seen, Store.At state) {
    if (request.verb() == Verb.WATCH) {
      return exchange -> watches.serve(exchange, request, seen.number(), faults);
    }
    return HttpReply.json(request.verb().writes() ? api.write(request) : api.read(request, state));
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }
}
