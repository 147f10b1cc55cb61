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
      List<String> lines = differences(step);
      for (int look = 1; look < LOOKS && step.mayBeLate() && isWrong(step, lines); look++) {
        lines = differences(step);
      }
      if (!lines.isEmpty() && step.differs().isEmpty()) {
        report.add("%s, step %d: %s".formatted(scenario.name(), number, step));
        lines.forEach(line -> report.add("    " + line));
      } else if (lines.isEmpty() && !step.differs().isEmpty()) {
        report.add(
            "%s, step %d: %s: no longer differs, remove the excuse"
                .formatted(scenario.name(), number, step));
      }
    }
    return report;
  }

  private static boolean isWrong(Step step, List<String> differences) {
    return differences.isEmpty() != step.differs().isEmpty();
  }

  private List<String> differences(Step step) {
    // at the same time, because a watch takes its time
    CompletableFuture<Server.Answer> other =
        CompletableFuture.supplyAsync(() -> embedded.send(step));
    Server.Answer wanted = real.send(step);
    Server.Answer answer = other.join();
    List<String> lines = new ArrayList<>();
    if (wanted.code() != answer.code()) {
      lines.add("status: real %d, embedded %d".formatted(wanted.code(), answer.code()));
    }
    JsonNode given = Normal.of(answer.body(), namespace);
    JsonNode expected = Normal.of(wanted.body(), namespace);
    if (step.operation().equals("discover")) {
      expected = Listed.by(expected, given);
    }
    lines.addAll(Normal.differences(expected, given));
    return lines;
  }
}
