package io.pmemcsi.embedded.http;

import com.sun.net.httpserver.HttpExchange;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.fault.RequestFault;
import io.pmemcsi.embedded.fault.RequestFault.Moment;
import io.pmemcsi.embedded.fault.SeenRequest;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries requests out and answers them, as far as the faults let it. */
record FaultyAnswers(FaultPlan faults, Store store) {
  private static final Logger LOG = LoggerFactory.getLogger(FaultyAnswers.class);

  void answer(HttpExchange exchange, SeenRequest seen, Task task)
      throws IOException, InterruptedException {
    RequestFault fault = faults.onRequest(seen);
    LOG.atTrace().addKeyValue("request", seen).addKeyValue("fault", fault).log("embedded API");
    switch (fault) {
      case RequestFault.Fail(int code, Moment moment) -> {
        runIfAfter(moment, seen, task);
        throw ApiException.of(code, reason(code), "failed on demand");
      }
      case RequestFault.Cut(Moment moment) -> {
        runIfAfter(moment, seen, task);
        throw new CutException();
      }
      case RequestFault.Delay(var duration, var moment) -> {
        if (moment == Moment.BEFORE) {
          pause(duration);
          task.run(store.now()).send(exchange);
        } else {
          Reply reply = task.run(store.now());
          pause(duration);
          reply.send(exchange);
        }
      }
      case RequestFault.Hold(var until) -> {
        Reply reply = task.run(store.now());
        until.await();
        reply.send(exchange);
      }
      case RequestFault.Stale(int changes) ->
          task.run(store.at(store.now().revision() - changes)).send(exchange);
    }
  }

  private static void pause(Duration duration) throws InterruptedException {
    if (duration.isPositive()) {
      Thread.sleep(duration); // a thread that sleeps for no time still makes way for others
    }
  }

  /** Only a write leaves a trace, though nobody hears of it. */
  private void runIfAfter(Moment moment, SeenRequest seen, Task task) {
    if (moment == Moment.AFTER && seen.write()) {
      task.run(store.now());
    }
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
}
