package io.pmemcsi.driver;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.DeviceException;
import io.pmemcsi.driver.device.lvm.RawConversion;
import io.pmemcsi.driver.device.ndctl.Ndctl;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The raw namespaces of this node: memory that the driver does not use unless it is converted. */
public final class RawNamespaces {

  private static final Logger LOG = LoggerFactory.getLogger(RawNamespaces.class);
  private static final List<Command> DIAGNOSTICS =
      List.of(Command.of("ndctl", "list", "-NRi"), Command.of("vgdisplay"));

  private final CommandRunner runner;

  public RawNamespaces() {
    this(new ProcessRunner());
  }

  RawNamespaces(CommandRunner runner) {
    this.runner = runner;
  }

  /**
   * Converts them for LVM; what they hold is lost.
   *
   * @return how many are in a volume group now, those of earlier calls included
   */
  public int convert() {
    try {
      return new RawConversion(new Ndctl(runner), runner).convert();
    } catch (DeviceException | ToolFailedException e) {
      throw new FatalException("failed to convert raw namespaces: " + e.getMessage(), e);
    }
  }

  /** Writes to the log what an administrator needs to see where the conversion failed. */
  public void explain() {
    for (Command command : DIAGNOSTICS) {
      try {
        LOG.atWarn()
            .addKeyValue("command", command)
            .addKeyValue("output", runner.run(command).stdout().strip())
            .log("State of this node.");
      } catch (ToolFailedException e) {
        LOG.atWarn().addKeyValue("command", command).setCause(e).log("State of this node unknown.");
      }
    }
  }
}
