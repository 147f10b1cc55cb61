package io.pmemcsi.app.cli;

import io.pmemcsi.base.error.FatalException;
import java.io.InputStream;
import java.io.PrintStream;
import java.util.Map;

/** The environment of a command; tests provide their own. */
public record CliEnvironment(
    Map<String, String> environment, InputStream in, PrintStream out, PrintStream err) {

  public CliEnvironment {
    environment = Map.copyOf(environment);
  }

  /** The environment of this process. */
  public static CliEnvironment ofProcess() {
    return new CliEnvironment(System.getenv(), System.in, System.out, System.err);
  }

  /**
   * Checks that all output was written: a PrintStream does not report errors.
   *
   * @throws FatalException if it was not
   */
  void requireWritten() {
    if (out.checkError()) {
      throw new FatalException(
          "standard output cannot be written: is the disk full, or has its reader gone?");
    }
  }

  /** A variable of the environment; empty text where it is not set. */
  String variable(String name) {
    return environment.getOrDefault(name, "");
  }
}
