package io.pmemcsi.testbed.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerFlagsTest {

  @TempDir private Path directory;

  @Test
  void insecurePortOfOldServersIsDisabled() {
    ServerFlags flags = flags("v1.20.2");

    assertThat(flags.controllerManager(1234)).contains("--secure-port=1234", "--port=0");
    assertThat(flags.scheduler(1234)).contains("--secure-port=1234", "--port=0");
  }

  @Test
  void newServersDoNotGetFlagsThatTheyDoNotKnow() {
    ServerFlags flags = flags("v1.36.0");

    assertThat(flags.controllerManager(1234))
        .contains("--secure-port=1234")
        .doesNotContain("--port=0");
    assertThat(flags.scheduler(1234, Path.of("config.yaml")))
        .contains("--config=config.yaml")
        .doesNotContain("--port=0");
  }

  @Test
  void everythingListensOnLoopbackOnly() {
    ServerFlags flags = flags("v1.20.2");

    assertThat(flags.apiServer("http://127.0.0.1:1", 2)).contains("--bind-address=127.0.0.1");
    assertThat(flags.controllerManager(3)).contains("--bind-address=127.0.0.1");
    assertThat(flags.scheduler(4)).contains("--bind-address=127.0.0.1");
  }

  private ServerFlags flags(String version) {
    return new ServerFlags(KubernetesVersion.parse(version), Credentials.create(directory));
  }
}
