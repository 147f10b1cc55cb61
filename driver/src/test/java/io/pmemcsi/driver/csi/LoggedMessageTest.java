package io.pmemcsi.driver.csi;

import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CreateVolumeRequest;
import org.junit.jupiter.api.Test;

class LoggedMessageTest {

  @Test
  void secretsNeverReachTheLog() {
    CreateVolumeRequest request =
        CreateVolumeRequest.newBuilder().setName("pvc-1").putSecrets("password", "hunter2").build();

    assertThat(LoggedMessage.of(request).toString())
        .contains("pvc-1")
        .doesNotContain("hunter2")
        .doesNotContain("password");
  }
}
