package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.pmemcsi.embedded.fault.Faults;
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
  private final FaultyAnswers answers;

  public Front(
      Api api, Store store, ServerVersion version, Faults faults, RequestLog log, Watches watches) {
    this.api = api;
    this.store = store;
    this.version = version;
    this.faults = faults;
    this.log = log;
    this.watches = watches;
    this.answers = new FaultyAnswers(faults, store);
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
      Reply.json(e.answer()).send(exchange);
    } catch (CutException e) {
      throw e;
    } catch (RuntimeException e) {
      LOG.atError()
          .addKeyValue("method", exchange.getRequestMethod())
          .addKeyValue("uri", exchange.getRequestURI())
          .setCause(e)
          .log("request failed inside the embedded API");
      Reply.json(ApiException.of(500, "InternalError", e.toString()).answer()).send(exchange);
    }
  }

  private void answer(HttpExchange exchange) throws IOException, InterruptedException {
    byte[] bytes = exchange.getRequestBody().readAllBytes();
    List<String> path = Address.parts(exchange.getRequestURI());
    Optional<Address> address = Address.of(path);
    Optional<ResourceType> type =
        address.flatMap(
            a -> api.catalog().find(store.now().objects(), a.group(), a.version(), a.plural()));
    if (type.isEmpty()) {
      SeenRequest seen =
          SeenRequest.ofPage(
              log.nextNumber(), exchange.getRequestMethod(), exchange.getRequestURI().getPath());
      handle(exchange, seen, view -> page(path, view));
    } else if (header(exchange, "Upgrade").equalsIgnoreCase("websocket")) {
      // A plain answer makes clients watch by HTTP, as they do behind proxies without WebSockets.
      Reply.json(new ApiAnswer(200, Json.object())).send(exchange);
    } else {
      resource(exchange, request(exchange, address.orElseThrow(), type.get(), bytes));
    }
  }

  private void handle(HttpExchange exchange, SeenRequest seen, Task task)
      throws IOException, InterruptedException {
    log.add(seen);
    answers.answer(exchange, seen, task);
  }

  private Reply page(List<String> path, Store.At view) {
    if (path.size() == 1 && List.of("healthz", "livez", "readyz").contains(path.getFirst())) {
      return Reply.text(200, "ok");
    }
    return new Discovery(api.catalog().all(view.objects()), version)
        .page(path)
        .map(page -> Reply.json(new ApiAnswer(200, page)))
        .orElseGet(() -> Reply.text(404, "404 page not found\n"));
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
    handle(exchange, seen, view -> reply(request, seen, view));
  }

  private Reply reply(ApiRequest request, SeenRequest seen, Store.At view) {
    if (request.verb() == Verb.WATCH) {
      return exchange -> {
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        watches.serve(exchange, request, seen.number(), faults);
      };
    }
    return Reply.json(request.verb().writes() ? api.write(request) : api.read(request, view));
  }

  private static String header(HttpExchange exchange, String name) {
    String value = exchange.getRequestHeaders().getFirst(name);
    return value == null ? "" : value;
  }
}
