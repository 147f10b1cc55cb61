package io.pmemcsi.driver.linux.exec;

/** A tool failed. The message has the command, how it ended and its last lines of output. */
public final class ToolFailedException extends RuntimeException {

  /** How a tool can fail. */
  public enum Reason {
    NOT_STARTED,
    EXIT_CODE,
    TIMEOUT,
    OUTPUT,
    CANCELLED
  }

  private static final int HEAD = 300;
  private static final int TAIL = 700;

  private final Reason reason;
  private final int exitCode;
  private final String stderrTail;

  private ToolFailedException(Reason reason, String message, int exitCode, String stderr) {
    super(message);
    this.reason = reason;
    this.exitCode = exitCode;
    this.stderrTail = stderr;
  }

  /**
   * The program is missing or may not be executed.
   *
   * @param why in words, with what to do
   */
  public static ToolFailedException notStarted(Command command, String why) {
    return new ToolFailedException(
        Reason.NOT_STARTED, "cannot run %s: %s".formatted(command.program(), why), -1, "");
  }

  /** The program ended with a code that is not an answer. */
  public static ToolFailedException exited(Command command, CommandResult result) {
    String output = tail(result.stderr().isBlank() ? result.stdout() : result.stderr());
    return new ToolFailedException(
        Reason.EXIT_CODE,
        "\"%s\" ended with exit code %d: %s"
            .formatted(command, result.exitCode(), output.isEmpty() ? "(no output)" : output),
        result.exitCode(),
        output);
  }

  /** The program printed more than a caller can read. */
  static ToolFailedException printedTooMuch(Command command, int limit, CommandResult result) {
    String output = tail(result.stdout());
    return new ToolFailedException(
        Reason.OUTPUT,
        "\"%s\" printed more than %d MiB: %s".formatted(command, limit >> 20, output),
        result.exitCode(),
        output);
  }

  /** The program was killed because it took too long. */
  public static ToolFailedException timedOut(Command command, String stderr) {
    return new ToolFailedException(
        Reason.TIMEOUT,
        "\"%s\" was killed after %s: %s".formatted(command, command.timeout(), tail(stderr)),
        -1,
        tail(stderr));
  }

  /** The program was killed, or not even started, because its call was cancelled. */
  public static ToolFailedException cancelled(Command command) {
    return cancelled(command.toString());
  }

  /** The same for what takes no program. */
  public static ToolFailedException cancelled(String operation) {
    return new ToolFailedException(
        Reason.CANCELLED,
        "\"%s\" was killed because the call was cancelled".formatted(operation),
        -1,
        "");
  }

  public Reason reason() {
    return reason;
  }

  /** The exit code, or -1 where there is none. */
  public int exitCode() {
    return exitCode;
  }

  /** The last lines of what the tool complained about. */
  public String stderrTail() {
    return stderrTail;
  }

  private static String tail(String text) {
    String joined = text.strip().replaceAll("\\s*\\R\\s*", " | ");
    // some tools complain first and then print their whole manual, others the other way round
    return joined.length() <= HEAD + TAIL
        ? joined
        : joined.substring(0, HEAD) + " ... " + joined.substring(joined.length() - TAIL);
  }
}
