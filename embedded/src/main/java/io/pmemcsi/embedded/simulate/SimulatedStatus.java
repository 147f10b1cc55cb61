package io.pmemcsi.embedded.simulate;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pmemcsi.embedded.json.Json;
import io.pmemcsi.embedded.store.Objects;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The status of a workload whose pods become ready one by one.
 *
 * @param wanted how many pods there should be
 * @param ready how many are ready
 * @param behind whether the last change of the spec is not taken up yet
 */
record SimulatedStatus(String kind, ObjectNode workload, int wanted, int ready, boolean behind) {

  static SimulatedStatus of(Objects objects, String kind, ObjectNode workload) {
    int wanted =
        kind.equals("daemonsets")
            ? nodesFor(objects, workload)
            : Json.at(workload, "spec", "replicas").asInt(1);
    JsonNode status = workload.path("status");
    int ready = status.path(kind.equals("daemonsets") ? "numberReady" : "readyReplicas").asInt();
    boolean sameGeneration =
        status.path("observedGeneration").asLong()
            == Json.at(workload, "metadata", "generation").asLong();
    boolean sameWanted =
        status.path(kind.equals("daemonsets") ? "desiredNumberScheduled" : "replicas").asInt()
            == wanted;
    return new SimulatedStatus(
        kind, workload, wanted, Math.min(ready, wanted), !sameGeneration || !sameWanted);
  }

  private static int nodesFor(Objects objects, ObjectNode daemonSet) {
    JsonNode selector = Json.at(daemonSet, "spec", "template", "spec", "nodeSelector");
    int count = 0;
    for (ObjectNode node : objects.list("", "nodes", "")) {
      JsonNode labels = Json.at(node, "metadata", "labels");
      boolean fits =
          selector.properties().stream()
              .allMatch(wanted -> Json.same(labels.path(wanted.getKey()), wanted.getValue()));
      count += fits ? 1 : 0;
    }
    return count;
  }

  /** Whether nothing is left to do. */
  boolean settled() {
    return !behind && ready == wanted;
  }

  /** The change of the spec is taken up: the new pods are not ready yet. */
  ObjectNode observed() {
    boolean newTemplate =
        Json.at(workload, "status", "observedGeneration").asLong()
            != Json.at(workload, "metadata", "generation").asLong();
    return status(newTemplate ? 0 : ready);
  }

  ObjectNode oneMoreReady() {
    return status(Math.min(wanted, ready + 1));
  }

  private ObjectNode status(int nowReady) {
    ObjectNode status = Json.object();
    status.put("observedGeneration", Json.at(workload, "metadata", "generation").asLong());
    if (kind.equals("daemonsets")) {
      status.put("desiredNumberScheduled", wanted);
      status.put("currentNumberScheduled", wanted);
      status.put("updatedNumberScheduled", wanted);
      status.put("numberMisscheduled", 0);
      status.put("numberReady", nowReady);
      status.put("numberAvailable", nowReady);
      status.put("numberUnavailable", wanted - nowReady);
    } else {
      status.put("replicas", wanted);
      status.put("updatedReplicas", wanted);
      status.put("readyReplicas", nowReady);
      status.put(kind.equals("deployments") ? "availableReplicas" : "currentReplicas", nowReady);
    }
    if (kind.equals("deployments")) {
      status.put("unavailableReplicas", wanted - nowReady);
      available(status, nowReady >= wanted);
    }
    return status;
  }

  private static void available(ObjectNode status, boolean available) {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    status
        .putArray("conditions")
        .addObject()
        .put("type", "Available")
        .put("status", available ? "True" : "False")
        .put("reason", available ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable")
        .put("message", "simulated")
        .put("lastTransitionTime", now)
        .put("lastUpdateTime", now);
  }
}
