package io.pmemcsi.driver.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StateLockTest {

  @TempDir private Path directory;

  @Test
  void aStateDirectoryHasOneUserAtATime() {
    Path state = directory.resolve("state");
    try (StateLock first = StateLock.take(state, Duration.ZERO)) {
      assertThat(first).isNotNull();
      assertThatThrownBy(() -> StateLock.take(state, Duration.ZERO))
          .isInstanceOf(StateException.class)
          .hasMessageContaining(state.toString())
          .hasMessageContaining("another driver");
    }

    StateLock.take(state, Duration.ZERO).close();
    assertThat(state.toFile().list()).containsOnly("lock");
  }

  @Test
  void aSecondDriverWaitsUntilTheFirstReleasesTheLock() throws Exception {
    Path state = directory.resolve("state");
    StateLock first = StateLock.take(state, Duration.ZERO);
    Thread second =
        Thread.ofPlatform().start(() -> StateLock.take(state, Duration.ofMinutes(1)).close());
    await()
        .until(
            () ->
                Set.of(Thread.State.TIMED_WAITING, Thread.State.TERMINATED)
                    .contains(second.getState()));
    assertThat(second.isAlive()).isTrue();

    first.close();

    assertThat(second.join(Duration.ofMinutes(1))).isTrue();
  }

  @Test
  void aDirectoryWithoutAParentIsRefused() {
    assertThatThrownBy(() -> StateLock.take(directory.resolve("no/state"), Duration.ZERO))
        .isInstanceOf(StateException.class)
        .hasMessageContaining(directory.resolve("no").toString());
  }
}
