package io.pmemcsi.guide;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The commands that prepare memory, in a virtual machine whose memory is new. */
@WithPmemGuest(nvdimms = 1)
class GuideMemoryIT {

  private final PmemGuest guest;

  GuideMemoryIT(PmemGuest guest) {
    this.guest = guest;
  }

  @Test
  void aRegionHasFreeMemoryAfterTheCommandsOfThePage() {
    guest.replaceDevices();
    assertThat(available()).isZero();
    List<String> commands =
        Page.read(Guide.ROOT, "docs/prerequisites.md").commands().stream()
            .filter(command -> command.startsWith("ndctl "))
            .toList();
    assertThat(commands).hasSizeGreaterThan(2);

    commands.forEach(guest::run);

    assertThat(available()).isPositive();
  }

  private long available() {
    return Long.parseLong(guest.run("ndctl list -R | jq '.[0].available_size'"));
  }
}
