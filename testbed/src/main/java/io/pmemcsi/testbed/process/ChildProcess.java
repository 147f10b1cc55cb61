package io.pmemcsi.testbed.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A program in the background that ends when this JVM ends, even when that is killed. */
public final class ChildProcess implements AutoCloseable {

  /**
   * The kernel ties a child to the thread that started it, not to the process: so one thread that
   * lives as long as the JVM starts them all.
   */
  private static final ExecutorService SPAWNER =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("testbed-spawner").factory());

  /** Ends at once where the JVM was gone before the tie was made. */
  private static final String ONLY_WITH_PARENT = "[ \"$PPID\" = \"$0\" ] || exit 125; exec \"$@\"";

  private static final int TAIL_LINES = 20;
  private static final Duration POLL = Duration.ofMillis(50);

  private final String name;
  private final Path log;
  private final Process process;

  private ChildProcess(String name, Path log, Process process) {
    this.name = name;
    this.log = log;
    this.process = process;
  }

  /**
   * Starts a program with its output in a file.
   *
   * @param prefix a program that executes its arguments, such as {@code nsenter}, or nothing
   * @param environment the whole environment: nothing is inherited but {@code PATH}
   */
  public static ChildProcess start(
      String name,
      Path log,
      List<String> prefix,
      List<String> command,
      Map<String, String> environment) {
    List<String> all = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL", "--"));
    all.addAll(List.of("sh", "-c", ONLY_WITH_PARENT, Long.toString(ProcessHandle.current().pid())));
    all.addAll(prefix);
    all.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(all);
    builder.redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.environment().keySet().retainAll(List.of("PATH"));
    builder.environment().putAll(environment);
    try {
      return new ChildProcess(name, log, SPAWNER.submit(builder::start).get());
    } catch (ExecutionException e) {
      throw new IllegalStateException("cannot start %s: %s".formatted(name, command), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while starting " + name, e);
    }
  }

  /** Starts a program with nothing in its environment but {@code PATH}. */
  public static ChildProcess start(String name, Path log, List<String> command) {
    return start(name, log, List.of(), command, Map.of());
  }

  /**
   * Returns when the program is ready; fails with the end of its log when it ends before that or
   * takes too long.
   */
  public void awaitReady(Duration limit, BooleanSupplier ready) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!ready.getAsBoolean()) {
      if (!process.isAlive()) {
        throw new IllegalStateException(
            "%s ended with code %d before it was ready:%n%s"
                .formatted(name, process.exitValue(), logTail()));
      }
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(
            "%s was not ready after %d s:%n%s".formatted(name, limit.toSeconds(), logTail()));
      }
      try {
        process.waitFor(POLL.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while waiting for " + name, e);
      }
    }
  }

  public long pid() {
    return process.pid();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  public Path log() {
    return log;
  }

  /** The last lines of what the program printed. */
  public String logTail() {
    try {
      List<String> lines = Files.readString(log, StandardCharsets.UTF_8).lines().toList();
      List<String> tail = lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size());
      return String.join(System.lineSeparator(), tail);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the log of " + name, e);
    }
  }

  /** Asks the program to end and waits until it has; unlike a killed one it may tidy up. */
  public void end(Duration limit) {
    process.destroy();
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException(
            "%s (process %d) does not end when asked to: %s"
                .formatted(name, process.pid(), logTail()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Kills the program: what it would still want to tidy up is thrown away with its directory. */
  @Override
  public void close() {
    process.destroyForcibly();
    try {
      if (!process.waitFor(1, TimeUnit.MINUTES)) {
        throw new IllegalStateException(
            "%s (process %d) does not end".formatted(name, process.pid()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String toString() {
    return "%s (process %d)".formatted(name, process.pid());
  }
}
