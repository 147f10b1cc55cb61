package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import csi.v1.Volume;
import io.pmemcsi.testbed.guest.GuestProgram;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory without labels, as it is after it was built in. */
@WithPmemGuest
class RawConversionIT {
  private static final String CONVERT =
      "env KUBECONFIG=/run/kubeconfig "
          + PackedProgram.DRIVER
          + " -mode=force-convert-raw-namespaces -nodeid=guest -drivername=pmem-csi.intel.com"
          + " -nodeSelector='{\"storage\":\"pmem\"}'";

  private final PmemGuest guest;

  RawConversionIT(PmemGuest guest) {
    this.guest = guest;
  }

  @AfterEach
  void cleanUp() {
    GuestDriver.cleanUp(guest);
  }

  /** The patch itself is tried on a real API server elsewhere; here somebody has to take it. */
  private void startApi() {
    guest.run(
        """
        cat > /run/api <<'EOF'
        #!/bin/bash
        n=0
        while IFS= read -r line; do
          line=${line%%$'\\r'}; [ -n "$line" ] || break
          echo "$line" >> /run/requests
          case ${line,,} in content-length:*) n=${line##* };; esac
        done
        head -c $n >> /run/requests; echo >> /run/requests
        printf 'HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: 2\\r\\n'
        printf 'Connection: close\\r\\n\\r\\n{}'
        EOF
        chmod +x /run/api; rm -f /run/requests
        setsid socat TCP-LISTEN:8001,fork,reuseaddr EXEC:/run/api < /dev/null > /dev/null 2>&1 &
        cat > /run/kubeconfig <<'EOF'
        {"apiVersion": "v1", "kind": "Config", "current-context": "c",
         "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:8001"}}],
         "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
         "users": [{"name": "u", "user": {"token": "t"}}]}
        EOF
        """
            .replace("%%", "%"));
  }

  @Test
  void memoryWithoutLabelsIsConvertedAndTheDriverLivesOnIt() {
    guest.replaceDevices();
    assertThat(guest.run("ndctl list -N | jq -r '.[].mode'")).isEqualTo("raw\nraw");
    PackedProgram.install(guest);
    startApi();

    GuestProgram program = guest.start("convert", CONVERT);
    await()
        .atMost(Duration.ofMinutes(5))
        .pollInterval(Duration.ofSeconds(1))
        .until(() -> program.log().contains("the node is labelled") || !program.isRunning());
    assertThat(program.isRunning()).as(program.log()).isTrue();
    program.stop(Duration.ofMinutes(1));

    assertThat(guest.run("cat /run/requests"))
        .contains("PATCH /api/v1/nodes/guest HTTP/1.1")
        .contains("\"pmem-csi.intel.com/convert-raw-namespaces\":null")
        .contains("\"storage\":\"pmem\"");
    assertThat(guest.run("ndctl list -N | jq -r '.[].mode'")).isEqualTo("fsdax\nfsdax");
    assertThat(guest.run("vgs --noheadings -o vg_name,pv_count --sort vg_name"))
        .matches("(?s)\\s*ndbus0region0fsdax\\s+1\\s+ndbus0region1fsdax\\s+1\\s*");
    try (GuestDriver driver = GuestDriver.start(guest, "lvm", 100)) {
      assertThat(driver.capacity().getMaximumVolumeSize().getValue())
          .isBetween(1900L << 20, 2048L << 20);
      Volume volume = driver.create("converted", 64L << 20, Map.of("eraseafter", "false"));
      assertThat(driver.hasDax(driver.mount(volume, "ext4"))).isTrue();
      driver.unmount(volume);
      driver.delete(volume);
      assertThat(driver.list()).isEmpty();
      assertThat(guest.run("lvs --noheadings -o lv_name")).isEmpty();
    }
  }
}
