package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Creates devices that hold the filesystem of an earlier volume, as PMEM and logical volumes may;
 * new files never do.
 */
final class StaleContentLoops extends ForwardingLoops {

  private final ProcessRunner processes = new ProcessRunner();

  @Override
  public Path attach(Path file, long offset) throws IOException {
    processes.run(Command.of("mkfs.ext4", "-q", "-F", file.toString()));
    return super.attach(file, offset);
  }
}
