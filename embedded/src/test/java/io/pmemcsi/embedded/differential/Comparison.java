package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Sends steps to both servers and collects the differences. */
final class Comparison {
  /** How often a step that changes nothing is sent at most. */
  private static final int ATTEMPTS = 10;

  private final Server real;
  private final Server embedded;
  private final String namespace;

  Comparison(Server real, Server embedded, String namespace) {
    this.real = real;
    this.embedded = embedded;
    this.namespace = namespace;
  }

  /** Runs a scenario and returns the differences. */
  List<String> run(Scenario scenario) {
    List<String> report = new ArrayList<>();
    int number = 0;
    for (Step step : scenario.steps()) {
      number++;
      if (real.await(step)) {
        embedded.await(step);
        continue;
      }
      List<String> wrong = complaints(step);
      for (int attempt = 1; attempt < ATTEMPTS && step.mayBeLate() && !wrong.isEmpty(); attempt++) {
        wrong = complaints(step);
      }
      if (!wrong.isEmpty()) {
        report.add("%s, step %d: %s".formatted(scenario.name(), number, step));
        wrong.forEach(line -> report.add("    " + line));
      }
    }
    return report;
  }

  /** The differences of a step; an excuse is for the body, never for the status. */
  private List<String> complaints(Step step) {
    // in parallel, because a watch takes a second
    CompletableFuture<Server.Answer> other =
        CompletableFuture.supplyAsync(() -> embedded.send(step));
    Server.Answer expected = real.send(step);
    Server.Answer actual = other.join();
    List<String> wrong = new ArrayList<>();
    if (expected.code() != actual.code()) {
      wrong.add("status: real %d, embedded %d".formatted(expected.code(), actual.code()));
    }
    List<String> differences = differences(expected.body(), actual.body());
    if (step.differs().isEmpty()) {
      wrong.addAll(differences);
    } else if (differences.isEmpty()) {
      wrong.add("no longer differs, remove the excuse");
    }
    return wrong;
  }

  private List<String> differences(JsonNode expected, JsonNode actual) {
    return Normal.differences(Normal.of(expected, namespace), Normal.of(actual, namespace));
  }
}
