package io.pmemcsi.demo;

import io.pmemcsi.app.cli.CliEnvironment;
import io.pmemcsi.app.cli.Program;
import java.util.List;

/** Starts the program with the command {@code demo}. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    CliEnvironment environment = CliEnvironment.ofProcess();
    System.exit(Program.run(List.of(arguments), environment, new DemoCommand(environment.out())));
  }
}
