package io.pmemcsi.app.cli;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.ISetter;
import picocli.CommandLine.Model.OptionSpec;

/** Gives picocli the flags of a group as options. */
final class PicocliOptions {
  private PicocliOptions() {}

  /**
   * Adds the options.
   *
   * @param order of the first one in the help
   */
  static void add(CommandSpec command, FlagGroup group, int order) {
    int next = order;
    for (FlagDefinition flag : group.definitions()) {
      command.addOption(
          OptionSpec.builder(flag.names().toArray(String[]::new))
              .type(String.class)
              .arity(flag.bareValue().isPresent() ? "0..1" : "1")
              .fallbackValue(flag.bareValue().orElse(""))
              .paramLabel(flag.label())
              .description(flag.description())
              .order(next++)
              .setter(setter(group, flag))
              .build());
    }
  }

  private static ISetter setter(FlagGroup group, FlagDefinition flag) {
    return new ISetter() {
      @Override
      public <T> T set(T value) {
        // picocli resets options with null before it parses
        if (value instanceof String text) {
          group.set(flag, text);
        } else {
          group.reset(flag);
        }
        return value;
      }
    };
  }
}
