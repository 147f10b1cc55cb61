package io.pmemcsi.driver;

import static io.pmemcsi.driver.device.RecordedTools.recorded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.driver.device.RecordedTools;
import org.junit.jupiter.api.Test;

class RawNamespacesTest {

  private final RecordedTools tools = new RecordedTools();
  private final RawNamespaces namespaces = new RawNamespaces(tools);

  @Test
  void aFailedToolIsFatalAndNamed() {
    tools.respond("ndctl list", recorded("ndctl/no-labels.json"));
    tools.fail("ndctl create-namespace", "namespace0.0: failed to reconfigure");

    assertThatThrownBy(namespaces::convert)
        .isInstanceOf(FatalException.class)
        .hasMessageStartingWith("failed to convert raw namespaces: ")
        .hasMessageContaining("--reconfig=namespace0.0")
        .hasMessageContaining("failed to reconfigure");
  }

  @Test
  void theNodeStateIsReadEvenIfAToolFails() {
    tools.fail("ndctl list", "no memory");
    tools.respond("vgdisplay", "");

    namespaces.explain();

    assertThat(tools.commands()).containsExactly("ndctl list -NRi", "vgdisplay");
  }
}
