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

  @TempDir private Path folder;

  @Test
  void mistakeAtTheStartNamesFileAndKey() throws IOException {
    Path file = Files.writeString(folder.resolve("config.yaml"), "replicas: 2");

    assertThatThrownBy(() -> new ConfigFile(file))
        .isInstanceOf(FatalException.class)
        .hasMessageStartingWith("configuration file " + file + ": replicas: is not a key");
  }

  @Test
  void missingFileIsAMistakeToo() {
    assertThatThrownBy(() -> new ConfigFile(folder.resolve("none.yaml")))
        .isInstanceOf(FatalException.class)
        .hasMessageContaining("none.yaml cannot be read")
        .hasMessageContaining("correct --config");
  }

  @Test
  void changedFileIsReadAgainAndABrokenOneChangesNothing() throws IOException {
    Path file = Files.writeString(folder.resolve("config.yaml"), "deploymentReplicas: 2");
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
  void changeThatCouldNotBeToldIsToldAgain() throws IOException {
    Path file = Files.writeString(folder.resolve("config.yaml"), "deploymentReplicas: 2");
    var listens = new AtomicBoolean();
    var told = new AtomicInteger();
    try (var config = new ConfigFile(file)) {
      config.onChange(
          () -> {
            if (!listens.get()) {
              throw new IllegalStateException("nobody listens");
            }
            told.incrementAndGet();
          });

      replace(file, "deploymentReplicas: 3");

      awaitProblem(config, "nobody listens");
      listens.set(true);
      await().until(() -> config.problem().isEmpty());
      assertThat(told).hasValue(1);
    }
  }

  /** At once: nobody shall read a file that is empty for a moment. */
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

  /** As the kubelet does it: the file is a link through a link to a folder, which is swapped. */
  @Test
  void swapOfAConfigMapsFolderIsNoticed() throws IOException {
    Path first = Files.createDirectory(folder.resolve("..first"));
    Path second = Files.createDirectory(folder.resolve("..second"));
    Files.writeString(first.resolve("config.yaml"), "deploymentReplicas: 2");
    Files.writeString(second.resolve("config.yaml"), "deploymentReplicas: 3");
    Path data = Files.createSymbolicLink(folder.resolve("..data"), Path.of("..first"));
    Path file =
        Files.createSymbolicLink(folder.resolve("config.yaml"), Path.of("..data/config.yaml"));
    var changes = new AtomicInteger();
    try (var config = new ConfigFile(file)) {
      config.onChange(changes::incrementAndGet);

      Path next = Files.createSymbolicLink(folder.resolve("..next"), Path.of("..second"));
      Files.move(next, data, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);

      await().until(() -> changes.get() == 1);
      assertThat(config.get().deploymentReplicas()).isEqualTo(3);
    }
  }
}
