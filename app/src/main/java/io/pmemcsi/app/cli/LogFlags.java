package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The flags about log output that operator and driver share. */
final class LogFlags implements PlainFlags {

  /** Accepted without a word: they ask for what is done anyway. */
  static final List<String> ALWAYS_SO =
      List.of("--logtostderr", "--alsologtostderr", "--stderrthreshold");

  /** Those of the log library of earlier releases that mean nothing here. */
  static final List<String> WITHOUT_EFFECT =
      List.of(
          "--vmodule",
          "--log_dir",
          "--log_file",
          "--log_file_max_size",
          "--log_backtrace_at",
          "--skip_headers",
          "--skip_log_headers",
          "--add_dir_header",
          "--one_output");

  @Option(
      names = {"-v", "--v"},
      paramLabel = "LEVEL",
      order = 100,
      description =
          "Log level: 3 for production, 4 adds commands, 5 adds their output (default 3).")
  private String verbosity = "3";

  @Option(
      names = "--logging-format",
      paramLabel = "FORMAT",
      order = 101,
      description = "Form of log lines: text or json (default text).")
  private String format = "text";

  @Override
  public Optional<Runnable> setting(String name, String value) {
    return switch (name) {
      case "-v", "--v" -> Optional.of(() -> verbosity = value);
      case "--logging-format" -> Optional.of(() -> format = value);
      default -> Optional.empty();
    };
  }

  /** Starts logging as asked for. */
  void apply() {
    LogFormat form = LogFormat.parse(format);
    Logging.configure(form, Flag.required("-v", verbosity, LogFlags::verbosity));
  }

  private static Verbosity verbosity(String text) {
    try {
      return new Verbosity(Integer.parseInt(text));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("a log level is a number, 3 for production", e);
    }
  }
}
