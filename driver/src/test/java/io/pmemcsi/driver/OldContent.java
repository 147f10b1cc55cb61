package io.pmemcsi.driver;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Gives new devices what memory and logical volumes can have at the beginning of their life, and
 * new files never: the filesystem of an earlier volume.
 */
final class OldContent extends OtherLoops {

  private final ProcessRunner processes = new ProcessRunner();

  @Override
  public Path attach(Path file, long offset) throws IOException {
    processes.run(Command.of("mkfs.ext4", "-q", "-F", file.toString()));
    return super.attach(file, offset);
  }
}
