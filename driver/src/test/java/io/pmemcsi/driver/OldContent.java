package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;

/**
 * Gives new devices what memory and logical volumes can have at the beginning of their life, and
 * new files never: the filesystem of an earlier volume.
 */
final class OldContent implements CommandRunner {

  private final ProcessRunner processes = new ProcessRunner();
  private final CommandRunner others;

  OldContent(CommandRunner others) {
    this.others = others;
  }

  @Override
  public CommandResult run(Command command) {
    if (command.program().equals("losetup") && command.argv().contains("--find")) {
      processes.run(Command.of("mkfs.ext4", "-q", "-F", command.argv().getLast()));
    }
    return others.run(command);
  }
}
