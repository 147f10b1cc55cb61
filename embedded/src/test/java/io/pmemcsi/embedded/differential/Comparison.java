package io.pmemcsi.embedded.differential;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Sends steps to both servers and collects the differences. */
final class Comparison {
  /** How often a look that changes nothing is taken at most. */
  private static final int LOOKS = 10;

  private final Server real;
  private final Server embedded;
  private final String namespace;

  Comparison(Server real, Server embedded, String namespace) {
    this.real = real;
    this.embedded = embedded;
    this.namespace = namespace;
  }

  /** What differed; empty where nothing did. */
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
      for (int look = 1; look < LOOKS && step.mayBeLate() && !wrong.isEmpty(); look++) {
        wrong = complaints(step);
      }
      if (!wrong.isEmpty()) {
        report.add("%s, step %d: %s".formatted(scenario.name(), number, step));
        wrong.forEach(line -> report.add("    " + line));
      }
    }
    return report;
  }

  /** What is wrong with the answers to a step; an excuse is for the body, never for the status. */
  private List<String> complaints(Step step) {
    // at the same time, because a watch takes its time
    CompletableFuture<Server.Answer> other =
        CompletableFuture.supplyAsync(() -> embedded.send(step));
    Server.Answer wanted = real.send(step);
    Server.Answer answer = other.join();
    List<String> wrong = new ArrayList<>();
    if (wanted.code() != answer.code()) {
      wrong.add("status: real %d, embedded %d".formatted(wanted.code(), answer.code()));
    }
    List<String> differences = differences(step, wanted.body(), answer.body());
    if (step.differs().isEmpty()) {
      wrong.addAll(differences);
    } else if (differences.isEmpty()) {
      wrong.add("no longer differs, remove the excuse");
    }
    return wrong;
  }

  private List<String> differences(Step step, JsonNode wanted, JsonNode answer) {
    JsonNode given = Normal.of(answer, namespace);
    JsonNode expected = Normal.of(wanted, namespace);
    if (step.operation().equals("discover")) {
      expected = Listed.by(expected, given);
    }
    return Normal.differences(expected, given);
  }
}
