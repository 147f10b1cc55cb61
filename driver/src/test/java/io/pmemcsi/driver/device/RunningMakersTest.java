package io.pmemcsi.driver.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.volume.VolumeId;
import org.junit.jupiter.api.Test;

class RunningMakersTest {

  @Test
  void aToolIsFoundAsLongAsItRuns() throws Exception {
    VolumeId id = VolumeId.fromName("orphan of " + ProcessHandle.current().pid());
    Process tool =
        new ProcessBuilder("sh", "-c", "read line", "sh", RunningMakers.nameOption(id.value()))
            .start();
    try {
      // a process has no arguments for a moment after its program was started
      await().until(() -> RunningMakers.HERE.isMaking(id));
      assertThat(RunningMakers.HERE.isMaking(VolumeId.fromName("another"))).isFalse();
    } finally {
      tool.getOutputStream().close(); // what it waits for
      tool.waitFor();
    }
    assertThat(RunningMakers.HERE.isMaking(id)).isFalse();
  }
}
