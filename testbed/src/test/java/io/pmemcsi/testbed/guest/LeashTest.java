package io.pmemcsi.testbed.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LeashTest {
  @Test
  void theProgramEndsWhenThePipeToItsLeashIsClosed() throws Exception {
    Process leash = new ProcessBuilder("guest/leash", "sleep", "1000").start();
    try {
      assertThat(leash.waitFor(200, TimeUnit.MILLISECONDS)).isFalse();

      leash.getOutputStream().close();

      assertThat(leash.waitFor(2, TimeUnit.MINUTES)).isTrue();
      assertThat(leash.exitValue()).isEqualTo(128 + 9);
      assertThat(leash.descendants()).isEmpty();
    } finally {
      leash.destroyForcibly();
    }
  }

  @Test
  void theExitCodeOfTheProgramIsPassedOn() throws Exception {
    Process leash = new ProcessBuilder("guest/leash", "sh", "-c", "exit 5").start();

    assertThat(leash.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(leash.exitValue()).isEqualTo(5);
  }
}
