package io.pmemcsi.driver.device.lvm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandResult;
import io.pmemcsi.driver.linux.exec.ToolFailedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LvmFailureTest {
  private static final Command LVCREATE = Command.of("lvcreate");

  /** Messages of LVM 2.03. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "5 | Logical Volume \"a\" already exists in volume group \"g\" | VOLUME_EXISTS",
        "5 | Volume group \"g\" not found | REFUSED",
        "5 | device-mapper: reload ioctl failed | REFUSED",
        "3 | already exists in volume group is not an option | REFUSED",
      })
  void aFailureIsClassifiedByExitCodeAndMessage(int exit, String message, LvmFailure expected) {
    assertThat(
            LvmFailure.classify(
                ToolFailedException.exited(LVCREATE, new CommandResult(exit, "", message))))
        .isEqualTo(expected);
  }

  @Test
  void aKilledCommandIsClassifiedAsNoAnswer() {
    assertThat(LvmFailure.classify(ToolFailedException.timedOut(LVCREATE, "already exists")))
        .isEqualTo(LvmFailure.NO_ANSWER);
    assertThat(LvmFailure.classify(ToolFailedException.cancelled(LVCREATE)))
        .isEqualTo(LvmFailure.NO_ANSWER);
  }
}
