package io.pmemcsi.app.cli;

import io.pmemcsi.app.settings.Flag;
import io.pmemcsi.base.log.LogFormat;
import io.pmemcsi.base.log.Logging;
import io.pmemcsi.base.log.Verbosity;
import java.util.List;

/** The flags about log output that operator and driver share. */
final class LogFlags {

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

  private static final FlagDefinition VERBOSITY =
      new FlagDefinition(
          List.of("-v", "--v"),
          "LEVEL",
          "3",
          "Log level: 3 for production, 4 adds commands, 5 adds their output (default 3).");
  private static final FlagDefinition FORMAT =
      FlagDefinition.of(
          "--logging-format", "FORMAT", "text", "Form of log lines: text or json (default text).");

  private final FlagGroup flags = new FlagGroup(VERBOSITY, FORMAT);

  FlagGroup group() {
    return flags;
  }

  void apply() {
    LogFormat form = LogFormat.parse(flags.value(FORMAT));
    Logging.configure(form, Flag.required("-v", flags.value(VERBOSITY), LogFlags::verbosity));
  }

  private static Verbosity verbosity(String text) {
    try {
      return new Verbosity(Integer.parseInt(text));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("a log level is a number, 3 for production", e);
    }
  }
}
