package io.pmemcsi.app.taint;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.json.Json;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the startup taint from the node of a driver that serves and is registered, once. A Node
 * that is deleted and registered again with the taint gets a new driver pod, too.
 */
public final class TaintRemoval implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TaintRemoval.class);
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

  private final PodApiAccess api;
  private final String node;
  private final StartupTaint taint;
  private final Thread thread = Thread.ofVirtual().name("startup-taint").unstarted(this::run);

  private TaintRemoval(PodApiAccess api, DriverName driver, String node) {
    this.api = api;
    this.node = URLEncoder.encode(node, StandardCharsets.UTF_8);
    this.taint = new StartupTaint(driver);
  }

  /** Begins, and tries again until the taint is removed or this is closed. */
  public static TaintRemoval start(PodApiAccess api, DriverName driver, String node) {
    TaintRemoval removal = new TaintRemoval(api, driver, node);
    removal.thread.start();
    return removal;
  }

  private void run() {
    Duration pause = FIRST_PAUSE;
    try {
      while (!isRemoved()) {
        // shortened by chance, so that all nodes do not come at once
        Thread.sleep(
            pause.multipliedBy(ThreadLocalRandom.current().nextInt(50, 101)).dividedBy(100));
        pause =
            pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0
                ? pause.multipliedBy(2)
                : LONGEST_PAUSE;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isRemoved() {
    try {
      String path = "/api/v1/nodes/" + node;
      Json csiNode = api.get("/apis/storage.k8s.io/v1/csinodes/" + node);
      return switch (taint.next(api.get(path), csiNode)) {
        case StartupTaint.Step.Done _ -> true;
        case StartupTaint.Step.Wait(String why) -> {
          LOG.atInfo()
              .addKeyValue("taint", taint.key())
              .addKeyValue("reason", why)
              .log("The startup taint is not removed yet.");
          yield false;
        }
        case StartupTaint.Step.Patch(String json) -> {
          api.patch(path, json);
          LOG.atInfo()
              .addKeyValue("taint", taint.key())
              .addKeyValue("node", node)
              .log("The startup taint is removed.");
          yield true;
        }
      };
    } catch (IOException e) {
      LOG.atWarn()
          .addKeyValue("taint", taint.key())
          .addKeyValue("error", Reason.withFile(e))
          .log("The startup taint could not be removed, trying again.");
      return false;
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
