package io.pmemcsi.app.cli;

import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Flags that deployments of earlier releases may still pass and that change nothing. */
final class RetiredFlags {

  private static final Logger LOG = LoggerFactory.getLogger(RetiredFlags.class);

  private RetiredFlags() {}

  /** Lets a command accept the flags, without showing them in its help. */
  static void accept(CommandSpec command, List<String> names) {
    for (String name : names) {
      command.addOption(
          OptionSpec.builder(name).type(String.class).arity("0..1").hidden(true).build());
    }
  }

  /** Says which of the flags were given for nothing. */
  static void warn(CommandSpec command, List<String> names) {
    for (String name : names) {
      if (command.commandLine().getParseResult().hasMatchedOption(name)) {
        LOG.atWarn().addKeyValue("flag", name).log("Flag has no effect and can be left out.");
      }
    }
  }
}
