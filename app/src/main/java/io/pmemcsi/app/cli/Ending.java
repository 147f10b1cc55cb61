package io.pmemcsi.app.cli;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The one place where what went wrong becomes a line of text and an exit code. */
final class Ending {

  private static final int FAILED = 1;
  private static final int WRONG_COMMAND_LINE = 2;

  private final Surroundings surroundings;

  Ending(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  int wrongCommandLine(ParameterException exception) {
    CommandLine command = exception.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    if (exception.getCause() instanceof UsageException usage) {
      return usage(usage);
    }
    say("%s; see %s --help".formatted(describe(exception), name));
    return WRONG_COMMAND_LINE;
  }

  int failed(Throwable exception) {
    return switch (exception) {
      case UsageException usage -> usage(usage);
      case FatalException fatal -> fatal(oneLine(fatal.getMessage()));
      default -> {
        LoggerFactory.getLogger(Ending.class).atDebug().setCause(exception).log("Unexpected.");
        yield fatal("this should not have happened: " + oneLine(exception.toString()));
      }
    };
  }

  private int usage(UsageException exception) {
    say(oneLine(exception.getMessage()));
    return WRONG_COMMAND_LINE;
  }

  private int fatal(String line) {
    say(line);
    String log = surroundings.variable("TERMINATION_LOG_PATH");
    if (!log.isEmpty()) {
      try {
        Files.writeString(Path.of(log), line + "\n");
      } catch (IOException | RuntimeException e) {
        say("cannot write the termination log %s: %s".formatted(log, e.getMessage()));
      }
    }
    return FAILED;
  }

  private void say(String line) {
    surroundings.err().println("pmem-csi: " + line);
  }

  private static String describe(ParameterException exception) {
    if (exception instanceof UnmatchedArgumentException unmatched) {
      String argument = unmatched.getUnmatched().getFirst();
      List<String> similar = unmatched.getSuggestions();
      String hint = similar.isEmpty() ? "" : " (did you mean %s?)".formatted(similar.getFirst());
      if (unmatched.isUnknownOption()) {
        return "there is no flag %s%s".formatted(argument, hint);
      }
      CommandLine command = exception.getCommandLine();
      return command.getSubcommands().isEmpty()
          ? "\"%s\" is one argument too many".formatted(argument)
          : "there is no command \"%s\"%s"
              .formatted(argument, hint.isEmpty() ? ": use " + commands(command) : hint);
    }
    return oneLine(exception.getMessage());
  }

  /** The names of the commands, as a list to choose from. */
  static String commands(CommandLine command) {
    return command.getSubcommands().keySet().stream().sorted().collect(Collectors.joining(", "));
  }

  private static String oneLine(@Nullable String text) {
    return String.valueOf(text).strip().replaceAll("\\s*\\R\\s*", "; ");
  }
}
