package io.pmemcsi.app.cli;

import java.io.InputStream;
import java.io.PrintStream;
import java.util.Map;

/** What a command finds around it: tests give their own. */
public record Surroundings(
    Map<String, String> environment, InputStream in, PrintStream out, PrintStream err) {

  public Surroundings {
    environment = Map.copyOf(environment);
  }

  /** Those of this process. */
  public static Surroundings ofProcess() {
    return new Surroundings(System.getenv(), System.in, System.out, System.err);
  }

  /** A variable of the environment; empty text where it is not set. */
  String variable(String name) {
    return environment.getOrDefault(name, "");
  }
}
