package io.pmemcsi.embedded.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import io.pmemcsi.embedded.fault.FaultPlan;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.store.Change;
import io.pmemcsi.embedded.store.Store;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Serves watches until they time out, the client goes, or somebody ends them all. */
public final class Watches {
  private static final Duration LONGEST = Duration.ofMinutes(30);

  private final Store store;
  private final Duration bookmarkEvery;
  private final AtomicLong ended = new AtomicLong();
  private final AtomicInteger open = new AtomicInteger();

  public Watches(Store store, Duration bookmarkEvery) {
    this.store = store;
    this.bookmarkEvery = bookmarkEvery;
  }

  /** Ends every open watch. */
  public void endAll() {
    ended.incrementAndGet();
    store.wakeUp();
  }

  /** How many watches are open. */
  public int open() {
    return open.get();
  }

  void serve(HttpExchange exchange, ApiRequest request, long number, FaultPlan faults)
      throws IOException, InterruptedException {
    long generation = ended.get();
    Optional<Long> from = from(request);
    WatchStream stream = new WatchStream(number, request, faults, exchange.getResponseBody());
    exchange.sendResponseHeaders(200, 0);
    exchange.getResponseBody().flush();
    open.incrementAndGet();
    try {
      long deadline = System.nanoTime() + timeout(request).toNanos();
      stream(stream, request, from, generation, deadline);
    } finally {
      open.decrementAndGet();
    }
  }

  private void stream(
      WatchStream stream, ApiRequest request, Optional<Long> from, long generation, long deadline)
      throws IOException, InterruptedException {
    boolean bookmarks = request.query().getOrDefault("allowWatchBookmarks", "").equals("true");
    if (from.isPresent() && !store.remembers(from.get())) {
      expire(stream, from.get(), store.revision());
      return;
    }
    long position = from.isPresent() ? from.get() : existing(stream, request);
    while (generation == ended.get() && System.nanoTime() < deadline) {
      Store.News news = store.await(position, next(deadline));
      if (news.expired()) {
        expire(stream, position, news.revision());
        return;
      }
      if (generation != ended.get()) {
        throw new CutException();
      }
      for (Change change : news.changes()) {
        stream.change(change);
      }
      if (bookmarks && news.changes().isEmpty()) {
        stream.bookmark(news.revision());
      }
      position = news.revision();
    }
    if (generation != ended.get()) {
      throw new CutException();
    }
  }

  private static void expire(WatchStream stream, long wanted, long now) throws IOException {
    String message = "too old resource version: %d (%d)".formatted(wanted, now);
    stream.error(ApiException.of(410, "Expired", message).answer().body());
  }

  /** The version from which on changes are wanted; empty where what is there is wanted first. */
  private static Optional<Long> from(ApiRequest request) {
    String version = request.query().getOrDefault("resourceVersion", "");
    if (version.isEmpty() || version.equals("0")) {
      return Optional.empty();
    }
    try {
      return Optional.of(Long.parseLong(version));
    } catch (NumberFormatException _) {
      throw ApiException.bare(
          "resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": invalid syntax"
              .formatted(version, version));
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

  private Duration next(long deadline) {
    Duration left = Duration.ofNanos(Math.max(1, deadline - System.nanoTime()));
    return left.compareTo(bookmarkEvery) < 0 ? left : bookmarkEvery;
  }

  private static Duration timeout(ApiRequest request) {
    String seconds = request.query().getOrDefault("timeoutSeconds", "");
    return seconds.isEmpty() || seconds.equals("0")
        ? LONGEST
        : Duration.ofSeconds(Long.parseLong(seconds));
  }
}
