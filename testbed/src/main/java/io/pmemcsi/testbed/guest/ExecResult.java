package io.pmemcsi.testbed.guest;

/** How a command in the guest ended, and what it printed. */
public record ExecResult(int exitCode, String stdout, String stderr) {
  public boolean ok() {
    return exitCode == 0;
  }
}
