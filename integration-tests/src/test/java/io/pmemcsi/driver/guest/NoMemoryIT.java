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
 * A node of the cluster that has no persistent memory, but logical volumes of somebody else, and a
 * /sys that nobody may change. The memory is taken away from the kernel, which is quicker than to
 * boot a machine that has none.
 */
@WithPmemGuest
class NoMemoryIT {
  /** The kernel's driver for what the firmware says about memory. */
  private static final String NVDIMMS = "/sys/bus/acpi/drivers/nfit";

  private final PmemGuest guest;

  NoMemoryIT(PmemGuest guest) {
    this.guest = guest;
  }

  @ParameterizedTest
  @ValueSource(strings = {"lvm", "direct"})
  void theDriverStartsAndSaysSo(String mode) {
    assumeTrue(
        DriverInGuest.CAMPAIGN || mode.equals("lvm"),
        "LVM, which would find volumes of others, is the hard one: direct mode is for make"
            + " campaign");
    String foreign = VolumeId.fromName("foreign").value();
    guest.run(
        """
        set -e
        truncate -s 64M /disk/foreign
        loop=$(losetup --find --show /disk/foreign)
        vgcreate --quiet foreign $loop > /dev/null
        lvcreate --quiet --yes -Zn -Wn --size=4m --name=%s foreign > /dev/null
        echo ACPI0012:00 > %s/unbind
        [ -z "$(ndctl list -R)" ]
        mount -o remount,ro /sys; rm -f /host/driver.log
        """
            .formatted(foreign, NVDIMMS));
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
      assertThat(driver.log()).doesNotContain(foreign);
    }
  }

  @AfterEach
  void removeForeignGroup() {
    guest.run(
        """
        mount -o remount,rw /sys; vgremove --quiet -f -y foreign; losetup -D; rm -f /disk/foreign
        [ -n "$(ndctl list -R)" ] || echo ACPI0012:00 > %s/bind
        """
            .formatted(NVDIMMS));
  }
}
