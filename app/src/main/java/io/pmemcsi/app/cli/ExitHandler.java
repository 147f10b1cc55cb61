package io.pmemcsi.app.cli;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.Reason;
import io.pmemcsi.base.error.UsageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The one place where a failure becomes a line of text and an exit code. */
final class ExitHandler {

  private static final int FAILED = 1;
  private static final int WRONG_COMMAND_LINE = 2;

  /** For the last line of a process; another replica takes over a lost lease some seconds later. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  private final CliEnvironment environment;

  ExitHandler(CliEnvironment environment) {
    this.environment = environment;
  }

  int wrongCommandLine(ParameterException exception) {
    if (exception.getCause() instanceof UsageException usage) {
      return usage(usage);
    }
    String name = exception.getCommandLine().getCommandSpec().qualifiedName();
    return end(WRONG_COMMAND_LINE, "%s; see %s --help".formatted(describe(exception), name));
  }

  int failed(Throwable exception) {
    return switch (exception) {
      case UsageException usage -> usage(usage);
      case FatalException fatal -> end(FAILED, oneLine(fatal.getMessage()));
      default -> {
        LoggerFactory.getLogger(ExitHandler.class).atDebug().setCause(exception).log("Unexpected.");
        yield end(FAILED, "this should not have happened: " + oneLine(exception.toString()));
      }
    };
  }

  /**
   * Halts the process with the same line and exit code. Nothing is closed, because anything that
   * still runs could do harm; the first call wins.
   */
  synchronized void atOnce(FatalException exception) {
    // the reader of the output or the disk of the termination log may hang
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                Thread.sleep(TIMEOUT);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              Runtime.getRuntime().halt(FAILED);
            });
    Runtime.getRuntime().halt(failed(exception));
  }

  private int usage(UsageException exception) {
    return end(WRONG_COMMAND_LINE, oneLine(exception.getMessage()));
  }

  /** In a pod a wrong flag is fatal too, and is reported in the same place. */
  private int end(int code, String line) {
    say(line);
    String log = environment.variable("TERMINATION_LOG_PATH");
    if (!log.isEmpty()) {
      try {
        Files.writeString(Path.of(log), line + "\n");
      } catch (IOException | RuntimeException e) {
        say("cannot write the termination log %s: %s".formatted(log, Reason.of(e)));
      }
    }
    return code;
  }

  private void say(String line) {
    environment.err().println("pmem-csi: " + line);
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
      if (command.getSubcommands().isEmpty()) {
        boolean takesFiles = command.getCommandSpec().findOption("-f") != null;
        return "\"%s\" is one argument too many%s"
            .formatted(argument, takesFiles ? ": write -f before each file" : "");
      }
      return "there is no command \"%s\"%s"
          .formatted(argument, hint.isEmpty() ? ": use " + commands(command) : hint);
    }
    String message = oneLine(exception.getMessage());
    return message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
  }

  /** The names of the commands, as a list to choose from. */
  static String commands(CommandLine command) {
    return command.getSubcommands().keySet().stream().sorted().collect(Collectors.joining(", "));
  }

  private static String oneLine(@Nullable String text) {
    return String.valueOf(text).strip().replaceAll("\\s*\\R\\s*", "; ");
  }
}
