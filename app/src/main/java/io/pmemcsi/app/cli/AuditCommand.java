package io.pmemcsi.app.cli;

import io.pmemcsi.driver.NodeDriver;
import io.pmemcsi.driver.audit.AuditReport;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** {@code pmem-csi driver audit}. */
@Command(
    name = "audit",
    mixinStandardHelpOptions = true,
    description = {
      "Compares the records of the driver with the devices and mounts of this node, and changes"
          + " nothing. Give it the flags of the driver; the exit code is 1 where something does not"
          + " fit.%n"
    })
final class AuditCommand implements Callable<Integer>, HasFlags {

  private final DriverFlags flags = new DriverFlags();
  private final LogFlags log = new LogFlags();

  private final CliEnvironment environment;

  AuditCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  @Override
  public void addOptions(CommandSpec command) {
    PicocliOptions.add(command, flags.group(), 1);
    PicocliOptions.add(command, log.group(), 100);
  }

  @Override
  public Integer call() {
    log.apply();
    AuditReport report = NodeDriver.audit(flags.settings(environment).driver());
    environment.out().println(report);
    return report.open().isEmpty() ? 0 : 1;
  }
}
