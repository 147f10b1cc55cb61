package io.pmemcsi.app;

import io.pmemcsi.app.cli.CliEnvironment;
import io.pmemcsi.app.cli.Program;
import java.util.List;

/** Where the program starts. */
public final class Main {

  private Main() {}

  public static void main(String[] arguments) {
    System.exit(Program.run(List.of(arguments), CliEnvironment.ofProcess()));
  }
}
