package io.pmemcsi.operator.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.base.error.FatalException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigFileTest {

  @TempDir private Path directory;

  @Test
  void invalidKeyAtTheStartIsReportedWithTheFile() throws IOException {
    Path file = Files.writeString(directory.resolve("config.yaml"), "replicas: 2");

    assertThatThrownBy(() -> new ConfigFile(file))
        .isInstanceOf(FatalException.class)
        .hasMessageStartingWith("configuration file " + file + ": replicas: is not a key");
  }

  @Test
  void missingFileIsReported() {
    assertThatThrownBy(() -> new ConfigFile(directory.resolve("none.yaml")))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("none.yaml cannot be read")
        .hasMessageContaining("correct --config");
  }

  @Test
  void changedFileIsReloadedAndAnInvalidOneChangesNothing() throws IOException {
    Path file = Files.writeString(directory.resolve("config.yaml"), "deploymentReplicas: 2");
    var changes = new AtomicInteger();
    try (var config = new ConfigFile(file)) {
      config.onChange(changes::incrementAndGet);
      assertThat(config.get().deploymentReplicas()).isEqualTo(2);

      replace(file, "deploymentReplicas: 3");
      await().until(() -> changes.get() == 1);
      assertThat(config.get().deploymentReplicas()).isEqualTo(3);

      replace(file, "deploymentReplicas: many");
      awaitProblem(config, "deploymentReplicas");
      assertThat(config.get().deploymentReplicas()).isEqualTo(3);
      Files.delete(file);
      awaitProblem(config, "cannot be read");
      assertThat(config.get().deploymentReplicas()).isEqualTo(3);

      replace(file, "deploymentReplicas: 4");
      await().until(() -> changes.get() == 2);
      assertThat(config.get().deploymentReplicas()).isEqualTo(4);
      await().until(() -> config.problem().isEmpty());
    }
  }

  @Test
  void failedNotificationOfAChangeIsRetried() throws IOException {
    Path file = Files.writeString(directory.resolve("config.yaml"), "deploymentReplicas: 2");
    var listens = new AtomicBoolean();
    var notifications = new AtomicInteger();
    try (var config = new ConfigFile(file)) {
      config.onChange(
          () -> {
            if (!listens.get()) {
              throw new IllegalStateException("listener failed");
            }
            notifications.incrementAndGet();
          });

      replace(file, "deploymentReplicas: 3");

      awaitProblem(config, "listener failed");
      listens.set(true);
      await().until(() -> config.problem().isEmpty());
      assertThat(notifications).hasValue(1);
    }
  }

  /** Atomically: the operator must not read an empty file. */
  private static void replace(Path file, String text) throws IOException {
    Path next = Files.writeString(file.resolveSibling("next.yaml"), text);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void awaitProblem(ConfigFile config, String text) {
    await()
        .untilAsserted(
            () ->
                assertThat(config.problem())
                    .hasValueSatisfying(problem -> assertThat(problem).contains(text)));
  }

  /** As kubelet does: the file is a symlink through a symlink to a directory, which is replaced. */
  @Test
  void swapOfTheConfigMapDirectoryIsObserved() throws IOException {
    Path first = Files.createDirectory(directory.resolve("..first"));
    Path second = Files.createDirectory(directory.resolve("..second"));
    Files.writeString(first.resolve("config.yaml"), "deploymentReplicas: 2");
    Files.writeString(second.resolve("config.yaml"), "deploymentReplicas: 3");
    Path data = Files.createSymbolicLink(directory.resolve("..data"), Path.of("..first"));
    Path file =
        Files.createSymbolicLink(directory.resolve("config.yaml"), Path.of("..data/config.yaml"));
    var changes = new AtomicInteger();
    try (var config = new ConfigFile(file)) {
      config.onChange(changes::incrementAndGet);

      Path next = Files.createSymbolicLink(directory.resolve("..next"), Path.of("..second"));
      Files.move(next, data, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);

      await().until(() -> changes.get() == 1);
      assertThat(config.get().deploymentReplicas()).isEqualTo(3);
    }
  }
}
