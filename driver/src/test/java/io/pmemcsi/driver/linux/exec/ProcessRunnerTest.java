package io.pmemcsi.driver.linux.exec;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.linux.exec.ToolFailedException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessRunnerTest {

  private final CommandRunner runner = new ProcessRunner();

  @Test
  void bothOutputsAndTheExitCodeAreReturned() {
    CommandResult result =
        runner.run(Command.of("sh", "-c", "echo out; echo err >&2; exit 2").alsoAccepting(2));

    assertThat(result).isEqualTo(new CommandResult(2, "out\n", "err\n"));
  }

  @Test
  void largeOutputDoesNotBlockTheTool() {
    CommandResult result = runner.run(Command.of("sh", "-c", "seq 1 200000; seq 1 200000 >&2"));

    assertThat(result.stdout()).endsWith("200000\n");
    assertThat(result.stderr()).endsWith("200000\n");
  }

  /** More than the heap of a driver on a node. */
  @Test
  void outputWithoutEndIsBoundedAndItsBeginningAndEndAreReported() {
    ToolFailedException failure =
        failureOf(
            Command.of(
                "sh",
                "-c",
                "echo first >&2; head -c 200000000 /dev/zero | tr '\\0' x >&2; echo; echo last >&2;"
                    + " exit 1"));

    assertThat(failure).hasMessageContaining("first").hasMessageContaining("last");
    assertThat(failure.getMessage()).hasSizeLessThan(2_000);
  }

  @Test
  void standardErrorOfASuccessIsBoundedToo() {
    CommandResult result =
        runner.run(Command.of("sh", "-c", "head -c 200000000 /dev/zero | tr '\\0' x >&2"));

    assertThat(result.stderr().length()).isLessThan(2 * BoundedOutput.STDERR_LIMIT);
  }

  @Test
  void aToolThatPrintsMoreThanTheLimitFails() {
    ToolFailedException failure =
        failureOf(Command.of("sh", "-c", "head -c 200000000 /dev/zero | tr '\\0' x"));

    assertThat(failure.reason()).isEqualTo(Reason.OUTPUT);
    assertThat(failure).hasMessageContaining("printed more than 4 MiB");
    assertThat(failure.getMessage()).hasSizeLessThan(2_000);
  }

  @Test
  void anUnexpectedExitCodeIsReportedWithCommandAndStderr() {
    ToolFailedException failure =
        failureOf(Command.of("sh", "-c", "echo no such thing >&2; exit 7"));

    assertThat(failure.reason()).isEqualTo(Reason.EXIT_CODE);
    assertThat(failure.exitCode()).isEqualTo(7);
    assertThat(failure).hasMessageContaining("exit code 7").hasMessageContaining("no such thing");
  }

  @Test
  void aMissingProgramIsNamed() {
    ToolFailedException failure = failureOf(Command.of("no-such-program-here"));

    assertThat(failure.reason()).isEqualTo(Reason.NOT_STARTED);
    assertThat(failure)
        .hasMessage(
            "cannot run no-such-program-here: it is in no directory of PATH; install the package that"
                + " has it");
  }

  @Test
  void aProgramThatIsNotExecutableIsDistinguishedFromAMissingOne() {
    assertThat(failureOf(Command.of("/etc/passwd")))
        .hasMessageStartingWith("cannot run passwd: ")
        .hasMessageContaining("Permission denied");
  }

  @Test
  void aToolThatTimesOutIsKilledWithItsChildren(@TempDir Path dir) throws Exception {
    ToolFailedException failure = failureOf(sleeper(dir).within(Duration.ofSeconds(2)));

    assertThat(failure.reason()).isEqualTo(Reason.TIMEOUT);
    await().until(() -> !childIsAlive(dir));
  }

  @Test
  void aToolWhoseChildKeepsItsOutputOpenTimesOut() {
    // more than a pipe holds, then a pause: the reader blocks on the open pipe
    String script = "head -c 200000 /dev/zero; sleep 1; sleep 10 &";
    Command leaving = Command.of("sh", "-c", script).within(Duration.ofSeconds(3));

    assertThat(failureOf(leaving).reason()).isEqualTo(Reason.TIMEOUT);
  }

  @Test
  void aCancelledCallKillsItsToolWithItsChildren(@TempDir Path dir) throws Exception {
    Cancellation call = new Cancellation();
    CompletableFuture<ToolFailedException> failure = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> call.serve(() -> failure.complete(failureOf(sleeper(dir)))));
    await().until(() -> childIsAlive(dir));

    call.cancel();

    assertThat(failure.get(120, SECONDS).reason()).isEqualTo(Reason.CANCELLED);
    await().until(() -> !childIsAlive(dir));
  }

  @Test
  void aCancelledCallStartsNoFurtherTool(@TempDir Path dir) {
    Cancellation call = new Cancellation();
    call.cancel();

    call.serve(() -> failureOf(Command.of("touch", dir.resolve("made").toString())));

    assertThat(dir.resolve("made")).doesNotExist();
  }

  @Test
  void slowToolsDoNotBlockOthers() throws Exception {
    Cancellation calls = new Cancellation();
    List<CompletableFuture<ToolFailedException>> slow = new ArrayList<>();
    for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
      CompletableFuture<ToolFailedException> failure = new CompletableFuture<>();
      Runnable sleeping = () -> failure.complete(failureOf(Command.of("sleep", "600")));
      Thread.ofVirtual().start(() -> calls.serve(sleeping));
      slow.add(failure);
    }
    CompletableFuture<CommandResult> quick = new CompletableFuture<>();
    try {
      Thread.ofVirtual().start(() -> quick.complete(runner.run(Command.of("echo", "here"))));

      assertThat(quick.get(120, SECONDS).stdout()).isEqualTo("here\n");
    } finally {
      calls.cancel();
    }
    for (CompletableFuture<ToolFailedException> failure : slow) {
      assertThat(failure.get(120, SECONDS).reason()).isEqualTo(Reason.CANCELLED);
    }
  }

  private static Command sleeper(Path dir) {
    return Command.of("sh", "-c", "sleep 600 & echo $! > " + dir.resolve("child") + "; wait");
  }

  private static boolean childIsAlive(Path dir) throws IOException {
    Path file = dir.resolve("child");
    String pid = Files.exists(file) ? Files.readString(file).strip() : "";
    return !pid.isEmpty()
        && ProcessHandle.of(Long.parseLong(pid)).map(ProcessHandle::isAlive).orElse(false);
  }

  private ToolFailedException failureOf(Command command) {
    return catchThrowableOfType(ToolFailedException.class, () -> runner.run(command));
  }
}
