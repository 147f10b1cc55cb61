package io.pmemcsi.driver.linux.exec;

import io.pmemcsi.base.error.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs commands as processes of the operating system. */
public final class ProcessRunner implements CommandRunner {

  private static final Logger LOG = LoggerFactory.getLogger(ProcessRunner.class);
  private static final Duration DYING = Duration.ofSeconds(5);
  private static final Pattern NOT_THERE = Pattern.compile("\\berror[:=] ?2\\b");

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

  /** The JDK tells the number that the kernel has for it, among other words. */
  private static String why(IOException e) {
    String message = String.valueOf(e.getMessage());
    return NOT_THERE.matcher(message).find()
        ? "it is in no folder of PATH; install the package that has it"
        : "%s; may this user run it?".formatted(Reason.of(e).strip());
  }

  private static CommandResult waitFor(Command command, Process process, AtomicBoolean killed) {
    CompletableFuture<String> out = capture(command, "stdout", process.getInputStream());
    CompletableFuture<String> err = capture(command, "stderr", process.getErrorStream());
    long deadline = System.nanoTime() + command.timeout().toNanos();
    try {
      boolean ended = process.waitFor(command.timeout().toMillis(), TimeUnit.MILLISECONDS);
      // somebody whom the tool has left running may hold its outputs open
      if (!ended || !isComplete(out, deadline) || !isComplete(err, deadline)) {
        killTree(process);
        // one that hangs in the kernel does not die at once, if ever
        process.waitFor(DYING.toMillis(), TimeUnit.MILLISECONDS);
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
    CommandResult result = result(command, process, out, err, killed);
    LOG.atDebug()
        .addKeyValue("command", command.program())
        .addKeyValue("exit", result.exitCode())
        .addKeyValue("stdout-chars", result.stdout().length())
        .addKeyValue("stderr-chars", result.stderr().length())
        .log("Command ended.");
    if (!command.goodExits().contains(result.exitCode())) {
      throw ToolFailedException.exited(command, result);
    }
    return result;
  }

  private static CommandResult result(
      Command command,
      Process process,
      CompletableFuture<String> out,
      CompletableFuture<String> err,
      AtomicBoolean killed) {
    try {
      return new CommandResult(process.exitValue(), text(out), text(err));
    } catch (UncheckedIOException e) {
      if (killed.get()) {
        // cancelled just when the command had ended: the kill has closed what was being read
        throw ToolFailedException.cancelled(command);
      }
      throw e;
    }
  }

  /**
   * Reads to the end on a thread of its own, so that no tool ever blocks on a full pipe. A virtual
   * thread would keep one of the few threads that carry all calls until the tool has ended.
   */
  private static CompletableFuture<String> capture(Command command, String name, InputStream in) {
    CompletableFuture<String> text = new CompletableFuture<>();
    Thread.ofPlatform()
        .daemon()
        .name("output of " + command.program())
        .start(
            () -> {
              try (in) {
                String all = new String(in.readAllBytes(), StandardCharsets.UTF_8);
                if (LOG.isTraceEnabled()) {
                  all.lines()
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

  private static boolean isComplete(CompletableFuture<String> captured, long deadline)
      throws InterruptedException {
    try {
      captured.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      return true; // whoever wants the text hears why there is none
    }
  }

  private static String text(CompletableFuture<String> captured) {
    try {
      return captured.join();
    } catch (CompletionException e) {
      throw new UncheckedIOException(
          "the output of a command could not be read: " + Reason.of(e), new IOException(e));
    }
  }

  private static String soFar(CompletableFuture<String> captured) {
    return captured.isCompletedExceptionally() ? "" : captured.getNow("");
  }

  private static void killTree(Process process) {
    // children first: once their parent is gone they can no longer be found
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
