package io.pmemcsi.app.cli;

import io.pmemcsi.base.version.Version;
import picocli.CommandLine.Command;

/** {@code pmem-csi version}. */
@Command(name = "version", mixinStandardHelpOptions = true, description = "Prints the version.")
final class VersionCommand implements Runnable {

  private final CliEnvironment environment;

  VersionCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public void run() {
    environment.out().println(Version.current());
  }
}
