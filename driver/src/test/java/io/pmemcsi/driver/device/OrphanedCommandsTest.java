package io.pmemcsi.driver.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;

class OrphanedCommandsTest {

  @Test
  void aToolIsFoundWhileItRuns() throws Exception {
    VolumeId id = VolumeId.fromName("orphan of " + ProcessHandle.current().pid());
    Process tool =
        new ProcessBuilder("sh", "-c", "read line", "sh", OrphanedCommands.nameOption(id.value()))
            .start();
    try {
      // a process has no arguments for a moment after its program was started
      await().until(() -> OrphanedCommands.HERE.isCreating(id));
      assertThat(OrphanedCommands.HERE.isCreating(VolumeId.fromName("another"))).isFalse();
    } finally {
      tool.getOutputStream().close(); // the tool waits for the end of its input
      tool.waitFor();
    }
    assertThat(OrphanedCommands.HERE.isCreating(id)).isFalse();
  }
}
