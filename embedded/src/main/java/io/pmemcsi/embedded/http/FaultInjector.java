package io.pmemcsi.embedded.http;

import com.sun.net.httpserver.HttpExchange;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.embedded.http.HttpReply.CutException;
import io.pmemcsi.embedded.http.HttpReply.Pending;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out requests with the faults of a plan. */
record FaultInjector(FaultPlan faults, Store store) {
  private static final Logger LOG = LoggerFactory.getLogger(FaultInjector.class);

  void respond(HttpExchange exchange, SeenRequest seen, Pending request)
      throws IOException, InterruptedException {
    RequestFault fault = faults.onRequest(seen);
    LOG.atTrace().addKeyValue("request", seen).addKeyValue("fault", fault).log("embedded API");
    switch (fault) {
      case RequestFault.Fail(int code, Moment moment) -> {
        runIfAfter(moment, seen, request);
        throw ApiException.of(code, reason(code), "injected failure");
      }
      case RequestFault.Cut(Moment moment) -> {
        runIfAfter(moment, seen, request);
        throw new CutException();
      }
      case RequestFault.Delay(Duration duration, Moment moment) -> {
        if (moment == Moment.BEFORE) {
          pause(duration);
        }
        HttpReply reply = request.run(store.now());
        if (moment == Moment.AFTER) {
          pause(duration);
        }
        reply.send(exchange);
      }
      case RequestFault.Hold(var until) -> {
        HttpReply reply = request.run(store.now());
        until.await();
        reply.send(exchange);
      }
      case RequestFault.Stale(int changes) ->
          request.run(store.at(store.now().revision() - changes)).send(exchange);
    }
  }

  static void pause(Duration duration) throws InterruptedException {
    if (duration.isPositive()) {
      Thread.sleep(duration);
    }
  }

  /** A read whose response is lost need not be carried out. */
  private void runIfAfter(Moment moment, SeenRequest seen, Pending request) {
    if (moment == Moment.AFTER && seen.write()) {
      request.run(store.now());
    }
  }

  private static String reason(int code) {
    return switch (code) {
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
}
