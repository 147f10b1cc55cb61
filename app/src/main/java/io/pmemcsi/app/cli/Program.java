package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.version.Version;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code pmem-csi}: everything that the command line can ask for, and how it ends. */
@Command(
    name = "pmem-csi",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "Persistent memory as Kubernetes volumes: an operator that installs and manages CSI"
          + " drivers, and a CSI driver for PMEM.%n"
    },
    footer = {
      "",
      "Called as pmem-csi-driver or pmem-csi-operator it is that command.",
      "In a source tree, 'make demo' shows it with no cluster and no PMEM.",
      "Exit codes: 0 done; 1 failed, or diff or status found something; 2 the command line or the"
          + " kubeconfig is wrong, or diff or status failed; 3 out of memory."
    })
public final class Program implements Runnable {

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli before anything is called
  private CommandSpec spec;

  private Program() {}

  /**
   * Runs a command line and returns the exit code.
   *
   * @param moreCommands picocli commands besides those that ship
   */
  public static int run(
      List<String> arguments, CliEnvironment environment, Object... moreCommands) {
    ExitHandler ending = new ExitHandler(environment);
    try {
      Optional<Integer> ended = runWithoutPicocli(arguments, environment);
      if (ended.isPresent()) {
        return ended.get();
      }
      CommandLine program = commandLine(environment, moreCommands);
      int code =
          program
              .setParameterExceptionHandler(
                  (exception, given) -> ending.wrongCommandLine(exception))
              .setExecutionExceptionHandler(
                  (exception, command, result) -> ending.failed(exception))
              .execute(GoFlags.normalize(arguments, program).toArray(String[]::new));
      if (code == 0) {
        environment.requireWritten();
      }
      return code;
    } catch (Exception | Error e) {
      // picocli handles no errors, and a user must not see a stack trace
      return ending.failed(e);
    }
  }

  /** The commands that must start fast, if their command line has the simplest form. */
  private static Optional<Integer> runWithoutPicocli(
      List<String> arguments, CliEnvironment environment) throws Exception {
    if (arguments.isEmpty()) {
      return Optional.empty();
    }
    List<String> flags = GoFlags.normalize(arguments.subList(1, arguments.size()));
    return switch (arguments.getFirst()) {
      case "driver" -> {
        var driver = new DriverCommand(environment);
        yield driver.takes(flags) ? Optional.of(driver.run(() -> {})) : Optional.empty();
      }
      case "operator" -> {
        var operator = new OperatorCommand(environment);
        yield operator.takes(flags) ? Optional.of(operator.run(() -> {})) : Optional.empty();
      }
      default -> Optional.empty();
    };
  }

  static CommandLine commandLine(CliEnvironment environment, Object... moreCommands) {
    CommandLine driver = withRetired(new DriverCommand(environment), DriverFlags.WITHOUT_EFFECT);
    driver.addSubcommand(
        withRetired(
            new AuditCommand(environment),
            Stream.concat(DriverFlags.WITHOUT_EFFECT.stream(), RegistryFlags.NAMES.stream())
                .toList()));
    CommandLine program =
        new CommandLine(new Program())
            .addSubcommand(
                withRetired(new OperatorCommand(environment), OperatorFlags.WITHOUT_EFFECT))
            .addSubcommand(driver)
            .addSubcommand(new RenderCommand(environment))
            .addSubcommand(new DiffCommand(environment))
            .addSubcommand(new MigrateCommand(environment))
            .addSubcommand(new StatusCommand(environment))
            .addSubcommand(new CertificatesCommand(environment))
            .addSubcommand(new VersionCommand(environment))
            .addSubcommand(new CommandLine.HelpCommand());
    List.of(moreCommands).forEach(program::addSubcommand);
    program.setOut(writer(environment.out())).setErr(writer(environment.err()));
    program.setUsageHelpWidth(100);
    // as in Go the last one counts: kustomize patches append to the arguments of a container
    CommandLine.tracer().setLevel(CommandLine.TraceLevel.OFF);
    program.setOverwrittenOptionsAllowed(true);
    // no other tool of Kubernetes takes arguments from files, and @ may begin a name
    program.setExpandAtFiles(false);
    program.registerConverter(boolean.class, Program::readSwitch);
    program.getCommandSpec().versionProvider(() -> new String[] {Version.current()});
    layOut(program);
    return program;
  }

  private static boolean readSwitch(String text) {
    try {
      return Flag.bool(text);
    } catch (IllegalArgumentException e) {
      throw new TypeConversionException("\"%s\": %s".formatted(text, e.getMessage()));
    }
  }

  private static void layOut(CommandLine parent) {
    for (CommandLine command : parent.getSubcommands().values()) {
      command.getCommandSpec().usageMessage().sortOptions(false).abbreviateSynopsis(true);
      command.getCommandSpec().versionProvider(() -> new String[] {Version.current()});
      layOut(command);
    }
  }

  private static CommandLine withRetired(HasFlags command, List<String> names) {
    CommandLine line = new CommandLine(command);
    command.addOptions(line.getCommandSpec());
    RetiredFlags.accept(line.getCommandSpec(), LogFlags.ALWAYS_SO);
    RetiredFlags.accept(line.getCommandSpec(), LogFlags.WITHOUT_EFFECT);
    RetiredFlags.accept(line.getCommandSpec(), names);
    return line;
  }

  private static PrintWriter writer(java.io.PrintStream stream) {
    return new PrintWriter(stream, true, StandardCharsets.UTF_8);
  }

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "say what to do: " + ExitHandler.commands(spec.commandLine()));
  }
}
