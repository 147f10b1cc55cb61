package io.pmemcsi.app.cli;

import picocli.CommandLine.Model.CommandSpec;

/** A command whose flags are described by {@link FlagDefinition}s. */
interface HasFlags {
  /** Gives picocli the flags of this command. */
  void addOptions(CommandSpec command);
}
