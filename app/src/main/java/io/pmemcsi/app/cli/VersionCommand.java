package io.pmemcsi.app.cli;

import io.pmemcsi.base.version.Version;
import picocli.CommandLine.Command;

/** {@code pmem-csi version}. */
@Command(name = "version", mixinStandardHelpOptions = true, description = "Prints the version.")
final class VersionCommand implements Runnable {

  private final CliEnvironment surroundings;

  VersionCommand(CliEnvironment surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public void run() {
    surroundings.out().println(Version.current());
  }
}
