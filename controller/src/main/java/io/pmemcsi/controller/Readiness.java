package io.pmemcsi.controller;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/** What has to be true before the controller may be called. */
final class Readiness {

  private final List<Supplier<Optional<String>>> checks = new CopyOnWriteArrayList<>();

  /** Something that is done once. */
  static final class Step implements Supplier<Optional<String>> {

    private volatile Optional<String> problem;

    Step(String problem) {
      this.problem = Optional.of(problem);
    }

    void done() {
      problem = Optional.empty();
    }

    @Override
    public Optional<String> get() {
      return problem;
    }
  }

  void add(Supplier<Optional<String>> check) {
    checks.add(check);
  }

  /** The first thing that is missing. */
  Optional<String> problem() {
    return checks.stream().map(Supplier::get).flatMap(Optional::stream).findFirst();
  }
}
