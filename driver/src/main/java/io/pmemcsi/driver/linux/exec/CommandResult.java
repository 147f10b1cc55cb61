package io.pmemcsi.driver.linux.exec;

/** What a command that ended with an accepted exit code has printed. */
public record CommandResult(int exitCode, String stdout, String stderr) {}
