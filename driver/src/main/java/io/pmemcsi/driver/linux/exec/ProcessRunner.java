package io.pmemcsi.driver.linux.exec;

import io.pmemcsi.base.error.Reason;
import io.pmemcsi.driver.linux.Timeouts;
import io.pmemcsi.driver.linux.exec.BoundedOutput.Text;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs commands as processes of the operating system. */
public final class ProcessRunner implements CommandRunner {

  private static final Logger LOG = LoggerFactory.getLogger(ProcessRunner.class);
  private static final AtomicLong KILLS = new AtomicLong();
  private static final Pattern NOT_FOUND = Pattern.compile("\\berror[:=] ?2\\b");

  @Override
  public CommandResult run(Command command) {
    Optional<Cancellation> cancellation = Cancellation.current();
    if (cancellation.map(Cancellation::isCancelled).orElse(false)) {
      throw ToolFailedException.cancelled(command);
    }
    LOG.atDebug().addKeyValue("command", command).log("Command started.");
    Process process = start(command);
    AtomicBoolean killed = new AtomicBoolean();
    Runnable kill =
        () -> {
          killed.set(true);
          killTree(process);
        };
    cancellation.ifPresent(c -> c.onCancel(kill));
    try {
      return waitFor(command, process, killed);
    } finally {
      cancellation.ifPresent(c -> c.forget(kill));
    }
  }

  private static Process start(Command command) {
    try {
      ProcessBuilder builder = new ProcessBuilder(command.argv());
      // messages and numbers are read by this program and shown to administrators: one language
      builder.environment().put("LC_ALL", "C");
      Process process = builder.start();
      process.getOutputStream().close();
      return process;
    } catch (IOException e) {
      throw ToolFailedException.notStarted(command, why(e));
    }
  }

  /** The JDK reports the kernel's error number in its message only. */
  private static String why(IOException e) {
    String message = String.valueOf(e.getMessage());
    return NOT_FOUND.matcher(message).find()
        ? "it is in no directory of PATH; install the package that has it"
        : "%s; is this user allowed to run it?".formatted(Reason.of(e).strip());
  }

  private static CommandResult waitFor(Command command, Process process, AtomicBoolean killed) {
    CompletableFuture<Text> out =
        capture(command, "stdout", process.getInputStream(), BoundedOutput.STDOUT_LIMIT);
    CompletableFuture<Text> err =
        capture(command, "stderr", process.getErrorStream(), BoundedOutput.STDERR_LIMIT);
    long deadline = System.nanoTime() + command.timeout().toNanos();
    try {
      boolean ended = process.waitFor(command.timeout().toMillis(), TimeUnit.MILLISECONDS);
      // a process that the tool left running may hold its outputs open
      if (!ended || !isComplete(out, deadline) || !isComplete(err, deadline)) {
        killTree(process);
        // a process that hangs in the kernel does not end at once, if ever
        process.waitFor(Timeouts.KILL.toMillis(), TimeUnit.MILLISECONDS);
        throw ToolFailedException.timedOut(command, soFar(err));
      }
    } catch (InterruptedException e) {
      killTree(process);
      Thread.currentThread().interrupt();
      throw ToolFailedException.cancelled(command);
    }
    if (killed.get()) {
      throw ToolFailedException.cancelled(command);
    }
    Text stdout = text(command, out, killed);
    CommandResult result =
        new CommandResult(process.exitValue(), stdout.text(), text(command, err, killed).text());
    LOG.atDebug()
        .addKeyValue("command", command.program())
        .addKeyValue("exit", result.exitCode())
        .addKeyValue("stdout-chars", result.stdout().length())
        .addKeyValue("stderr-chars", result.stderr().length())
        .log("Command ended.");
    if (!command.goodExits().contains(result.exitCode())) {
      throw ToolFailedException.exited(command, result);
    }
    if (!stdout.isComplete()) {
      throw ToolFailedException.printedTooMuch(command, BoundedOutput.STDOUT_LIMIT, result);
    }
    return result;
  }

  /**
   * Reads on a platform thread: a virtual one would keep one of the few threads that carry all
   * calls until the tool has ended.
   */
  private static CompletableFuture<Text> capture(
      Command command, String name, InputStream in, int limit) {
    CompletableFuture<Text> text = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("output of " + command.program())
        .start(
            () -> {
              try (in) {
                Text all = BoundedOutput.read(in, limit);
                if (LOG.isTraceEnabled()) {
                  all.text()
                      .lines()
                      .forEach(
                          line ->
                              LOG.atTrace()
                                  .addKeyValue("command", command.program())
                                  .addKeyValue(name, line)
                                  .log("Command output."));
                }
                text.complete(all);
              } catch (IOException e) {
                text.completeExceptionally(e);
              }
            });
    return text;
  }

  private static boolean isComplete(CompletableFuture<Text> captured, long deadline)
      throws InterruptedException {
    try {
      captured.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      return true; // text() throws
    }
  }

  private static Text text(
      Command command, CompletableFuture<Text> captured, AtomicBoolean killed) {
    try {
      return captured.join();
    } catch (CompletionException e) {
      if (killed.get()) {
        // cancelled just when the command had ended: the kill closed what was being read
        throw ToolFailedException.cancelled(command);
      }
      throw new UncheckedIOException(
          "the output of a command could not be read: " + Reason.of(e), new IOException(e));
    }
  }

  private static String soFar(CompletableFuture<Text> captured) {
    return captured.isDone() && !captured.isCompletedExceptionally() ? captured.join().text() : "";
  }

  /** How many commands were killed. One that hangs in the kernel may outlive that. */
  public static long kills() {
    return KILLS.get();
  }

  private static void killTree(Process process) {
    KILLS.incrementAndGet();
    // children first: without their parent they can no longer be found
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
