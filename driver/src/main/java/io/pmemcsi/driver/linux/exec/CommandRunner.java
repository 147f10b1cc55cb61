package io.pmemcsi.driver.linux.exec;

/** The one way from this program to the tools of the operating system. */
@FunctionalInterface
public interface CommandRunner {

  /**
   * Runs a command to its end.
   *
   * @throws ToolFailedException when it cannot be started, ends with an exit code that was not
   *     accepted, takes too long, or the call it serves is cancelled; it is not running any more
   *     then
   */
  CommandResult run(Command command);
}
