package io.pmemcsi.driver.linux.exec;

/** Runs the tools of the operating system; there is no other way to start one. */
@FunctionalInterface
public interface CommandRunner {

  /**
   * Runs a command to its end.
   *
   * @throws ToolFailedException when it cannot be started, ends with an exit code that was not
   *     accepted, prints too much, takes too long, or the call it serves is cancelled; it does not
   *     run any more then
   */
  CommandResult run(Command command);
}
