package io.pmemcsi.embedded.simulate;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.schema.ResourceType;
import io.pmemcsi.embedded.server.Api;
import io.pmemcsi.embedded.server.ApiException;
import io.pmemcsi.embedded.server.ApiRequest;
import io.pmemcsi.embedded.server.Verb;
import io.pmemcsi.embedded.store.Objects;
import io.pmemcsi.embedded.store.Store;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes DaemonSets, Deployments and StatefulSets ready, one pod after the other, against the Node
 * objects that exist. Nothing runs: only the status moves.
 */
public final class SimulatedControllers implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SimulatedControllers.class);
  private static final List<String> KINDS = List.of("daemonsets", "deployments", "statefulsets");
  private static final Duration IDLE = Duration.ofSeconds(1);

  private final Api api;
  private final Store store;
  private final Duration perPod;
  private final Thread thread;
  private final Map<String, Instant> due = new HashMap<>();

  /**
   * Starts them.
   *
   * @param perPod how long each pod seems to need to become ready
   */
  public SimulatedControllers(Api api, Store store, Duration perPod) {
    this.api = api;
    this.store = store;
    this.perPod = perPod;
    this.thread = Thread.ofVirtual().name("simulated-controllers").start(this::run);
  }

  private void run() {
    long seen = 0;
    try {
      while (!Thread.currentThread().isInterrupted()) {
        Store.At now = store.now();
        boolean moving = step(now.objects());
        seen = store.await(now.revision(), moving ? shortest() : IDLE).revision();
      }
    } catch (InterruptedException _) {
      LOG.atTrace().addKeyValue("revision", seen).log("simulated controllers end");
    }
  }

  private Duration shortest() {
    Duration slice = perPod.dividedBy(4);
    return slice.isPositive() ? slice : Duration.ofMillis(1);
  }

  /** Moves every workload one step; true if any is still on its way. */
  private boolean step(Objects objects) {
    boolean moving = false;
    Set<String> present = new HashSet<>();
    for (String kind : KINDS) {
      for (ObjectNode workload : objects.list("apps", kind, "")) {
        present.add(Json.text(workload, "metadata", "uid"));
        moving |= move(objects, kind, workload);
      }
    }
    due.keySet().retainAll(present);
    return moving;
  }

  private boolean move(Objects objects, String kind, ObjectNode workload) {
    SimulatedStatus status = SimulatedStatus.of(objects, kind, workload);
    String uid = Json.text(workload, "metadata", "uid");
    if (status.settled()) {
      due.remove(uid);
      return false;
    }
    Instant now = Instant.now();
    Instant next = due.get(uid);
    if (next == null || status.behind()) {
      due.put(uid, now.plus(perPod));
      if (status.behind()) {
        write(objects, kind, workload, status.observed());
      }
    } else if (!now.isBefore(next)) {
      due.put(uid, now.plus(perPod));
      write(objects, kind, workload, status.oneMoreReady());
    }
    return true;
  }

  private void write(Objects objects, String kind, ObjectNode workload, ObjectNode status) {
    ResourceType type = api.catalog().find(objects, "apps", "v1", kind).orElseThrow();
    ObjectNode changed = workload.deepCopy();
    changed.set("status", status);
    try {
      api.write(
          new ApiRequest(
              Verb.UPDATE,
              type,
              Json.text(workload, "metadata", "namespace"),
              Json.text(workload, "metadata", "name"),
              "status",
              Map.of("fieldManager", "simulated-controllers"),
              "application/json",
              Optional.of(changed),
              ""));
    } catch (ApiException e) {
      // Somebody else changed or deleted it meanwhile; the next step looks again.
      LOG.atTrace().addKeyValue("reason", e.getMessage()).log("simulated status not written");
    }
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}
