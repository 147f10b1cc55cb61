package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.http.HttpReply.CutException;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.store.Change;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Serves watches until they time out, the client disconnects, or all watches are ended. */
public final class Watches {
  private static final Duration LONGEST = Duration.ofMinutes(30);

  private final Store store;
  private final AtomicLong ended = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();

  public Watches(Store store) {
    this.store = store;
  }

  /** Ends every open watch. */
  public void endAll() {
    ended.incrementAndGet();
    store.interruptAll();
  }

  /** The number of open watches. */
  public int open() {
    return open.get();
  }

  void serve(HttpExchange exchange, ApiRequest request, long number, FaultPlan faults)
      throws IOException, InterruptedException {
    long generation = ended.get();
    long from = from(request);
    WatchStream stream = new WatchStream(number, request, faults, exchange.getResponseBody());
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, 0);
    exchange.getResponseBody().flush();
    open.incrementAndGet();
    try {
      if (from > 0 && !store.reaches(from)) {
        expire(stream, from);
      } else {
        stream(stream, from > 0 ? from : existing(stream, request), generation, timeout(request));
      }
    } finally {
      open.decrementAndGet();
    }
  }

  private void stream(WatchStream stream, long start, long generation, Duration timeout)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    long position = start;
    for (long left = timeout.toNanos(); left > 0; left = deadline - System.nanoTime()) {
      Store.News news = store.await(position, Duration.ofNanos(left));
      if (generation != ended.get()) {
        throw new CutException();
      }
      if (news.expired()) {
        expire(stream, position);
        return;
      }
      for (Change change : news.changes()) {
        stream.change(change);
      }
      position = news.revision();
    }
  }

  private static void expire(WatchStream stream, long from) throws IOException {
    stream.error(
        ApiException.of(410, "Expired", "too old resource version: " + from).response().body());
  }

  /** The revision after which the watch starts; 0 for a watch that starts with all objects. */
  private static long from(ApiRequest request) {
    String version = request.parameter("resourceVersion");
    try {
      return version.isEmpty() ? 0 : Long.parseLong(version);
    } catch (NumberFormatException _) {
      throw ApiException.of(500, "", "invalid resourceVersion: " + version);
    }
  }

  private long existing(WatchStream stream, ApiRequest request)
      throws IOException, InterruptedException {
    Store.At now = store.now();
    for (ObjectNode object :
        now.objects().list(request.type().group(), request.type().plural(), request.namespace())) {
      stream.existing(object, now.revision());
    }
    return now.revision();
  }

  private static Duration timeout(ApiRequest request) {
    String seconds = request.parameter("timeoutSeconds");
    return seconds.isEmpty() ? LONGEST : Duration.ofSeconds(Long.parseLong(seconds));
  }
}
