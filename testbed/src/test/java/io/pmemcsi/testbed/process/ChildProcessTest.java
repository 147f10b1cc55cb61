package io.pmemcsi.testbed.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildProcessTest {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir private Path directory;

  @Test
  void runsUntilItIsClosed() {
    Path ready = directory.resolve("ready");
    ChildProcess child = start("touch \"$1\"; exec sleep 600", ready.toString());
    child.awaitReady(LIMIT, () -> Files.exists(ready));
    assertThat(child.isAlive()).isTrue();

    child.close();

    assertThat(child.isAlive()).isFalse();
    assertThat(ProcessHandle.of(child.pid())).isEmpty();
  }

  @Test
  void theEndOfItsLogIsInTheErrorWhenItEndsTooEarly() {
    try (ChildProcess child = start("echo no such flag; exit 3")) {
      assertThatThrownBy(() -> child.awaitReady(LIMIT, () -> false))
          .hasMessageContaining("server ended with code 3")
          .hasMessageContaining("no such flag");
    }
  }

  @Test
  void theEndOfItsLogIsInTheErrorWhenItTakesTooLong() {
    Path ready = directory.resolve("ready");
    try (ChildProcess child =
        start("echo still thinking; touch \"$1\"; exec sleep 600", ready.toString())) {
      child.awaitReady(LIMIT, () -> Files.exists(ready));

      assertThatThrownBy(() -> child.awaitReady(Duration.ZERO, () -> false))
          .hasMessageContaining("server was not ready after 0 s")
          .hasMessageContaining("still thinking");
    }
  }

  @Test
  void seesNothingOfOurEnvironmentButThePath() {
    Path ready = directory.resolve("ready");
    try (ChildProcess child =
        ChildProcess.start(
            "server",
            directory.resolve("log"),
            List.of("env", "-u", "UNWANTED"),
            List.of("sh", "-c", "env; touch \"$1\"; exec sleep 600", "sh", ready.toString()),
            Map.of("WANTED", "yes", "UNWANTED", "yes"))) {
      child.awaitReady(LIMIT, () -> Files.exists(ready));

      assertThat(child.logTail())
          .contains("WANTED=yes", "PATH=")
          .doesNotContain("UNWANTED", "HOME=");
    }
  }

  private ChildProcess start(String script, String... arguments) {
    List<String> command = new ArrayList<>(List.of("sh", "-c", script, "sh"));
    command.addAll(List.of(arguments));
    return ChildProcess.start("server", directory.resolve("log"), command);
  }
}
