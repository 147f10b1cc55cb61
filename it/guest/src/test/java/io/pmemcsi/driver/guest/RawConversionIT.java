package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.testbed.guest.ExecResult;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@WithPmemGuest
class RawConversionIT {
  private final PmemGuest guest;

  RawConversionIT(PmemGuest guest) {
    this.guest = guest;
  }

  @AfterEach
  void cleanUp() {
    GuestDriver.cleanUp(guest);
  }

  @Test
  void memoryWithoutLabelsBecomesVolumeGroups() {
    guest.replaceDevices();
    assertThat(guest.run("ndctl list -N | jq -r '.[].mode'")).isEqualTo("raw\nraw");

    ExecResult result =
        guest.exec(GuestJava.commandLine(guest, ConvertMain.class), Duration.ofMinutes(5));

    assertThat(result.stdout()).as(result.stderr()).contains("converted 2 2");
    assertThat(guest.run("ndctl list -N | jq -r '.[].mode'")).isEqualTo("fsdax\nfsdax");
    assertThat(guest.run("vgs --noheadings -o vg_name,pv_count --sort vg_name"))
        .matches("(?s)\\s*ndbus0region0fsdax\\s+1\\s+ndbus0region1fsdax\\s+1\\s*");
    guest.run(
        """
        set -e
        lvcreate -q -y -n probe -L 64M ndbus0region0fsdax
        mkfs.ext4 -q -b 4096 /dev/ndbus0region0fsdax/probe
        mkdir -p /mnt/probe
        mount -o dax=always /dev/ndbus0region0fsdax/probe /mnt/probe
        """);
  }
}
