package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.grpc.Status;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A node without persistent memory, with unrelated logical volumes and a read-only /sys. The test
 * unbinds the memory from its kernel driver, which is faster than booting another guest.
 */
@WithPmemGuest
class NoMemoryIT {
  /** The kernel driver for NVDIMMs that the firmware describes. */
  private static final String NVDIMMS = "/sys/bus/acpi/drivers/nfit";

  private final PmemGuest guest;

  NoMemoryIT(PmemGuest guest) {
    this.guest = guest;
  }

  @ParameterizedTest
  @ValueSource(strings = {"lvm", "direct"})
  void theDriverStartsAndReportsNoCapacity(String mode) {
    assumeTrue(
        DriverInGuest.CAMPAIGN || mode.equals("lvm"),
        "LVM mode could find unrelated volumes: direct mode is for make" + " campaign");
    String unrelated = VolumeId.fromName("unrelated").value();
    guest.run(
        """
        set -e
        truncate -s 64M /disk/unrelated
        loop=$(losetup --find --show /disk/unrelated)
        vgcreate --quiet unrelated $loop > /dev/null
        lvcreate --quiet --yes -Zn -Wn --size=4m --name=%s unrelated > /dev/null
        echo ACPI0012:00 > %s/unbind
        [ -z "$(ndctl list -R)" ]
        mount -o remount,ro /sys; rm -f /host/driver.log
        """
            .formatted(unrelated, NVDIMMS));
    try (GuestDriver driver = GuestDriver.start(guest, mode, 100)) {

      assertThat(driver.capacity().getAvailableCapacity()).isZero();
      assertThat(driver.capacity().getMaximumVolumeSize().getValue()).isZero();
      DriverInGuest.assertRefused(
          Status.Code.RESOURCE_EXHAUSTED, () -> driver.create("pvc-1", 0, Map.of()));
      assertThat(driver.list()).isEmpty();
      String labels = "{driver_name=\"pmem-csi.intel.com\",node=\"guest\"} 0";
      assertThat(driver.metrics())
          .contains("pmem_amount_available" + labels)
          .contains("pmem_amount_max_volume_size" + labels)
          .contains("pmem_amount_managed" + labels)
          .contains("pmem_amount_total" + labels);
      List<String> log = driver.log().lines().limit(2).toList();
      assertThat(log.get(0)).contains("PMEM-CSI started.");
      assertThat(log.get(1)).contains("This node has no PMEM");
      assertThat(driver.log()).doesNotContain(unrelated);
    }
  }

  @AfterEach
  void removeUnrelatedGroup() {
    guest.run(
        """
        mount -o remount,rw /sys; vgremove --quiet -f -y unrelated; losetup -D; rm -f /disk/unrelated
        [ -n "$(ndctl list -R)" ] || echo ACPI0012:00 > %s/bind
        """
            .formatted(NVDIMMS));
  }
}
