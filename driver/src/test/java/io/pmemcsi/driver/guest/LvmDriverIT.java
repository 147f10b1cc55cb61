package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.Volume;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.util.Map;
import org.junit.jupiter.api.Test;

@WithPmemGuest
class LvmDriverIT extends DriverInGuest {
  LvmDriverIT(PmemGuest guest) {
    super(guest, "lvm", Boolean.getBoolean("pmem-csi.campaign") ? 100 : 10);
  }

  /** Another namespace in each group: all of it counts but for its bookkeeping. */
  @Override
  long afterRaise(long availableBefore) {
    long now = driver().capacity().getAvailableCapacity();
    long all = 4096 * MIB * 80 / 100;
    assertThat(availableBefore).isBetween(2048 * MIB * 95 / 100, 2048 * MIB);
    assertThat(now).isBetween(all * 95 / 100, all);
    assertThat(driver().capacity().getMaximumVolumeSize().getValue()).isEqualTo(now / 2);
    return now;
  }

  @Test
  void a_mounted_volume_grows() {
    Volume volume = driver().create("growing", 64 * MIB, Map.of());
    String folder = driver().mount(volume, "ext4");

    var answer =
        driver()
            .controller()
            .controllerExpandVolume(
                ControllerExpandVolumeRequest.newBuilder()
                    .setVolumeId(volume.getVolumeId())
                    .setCapacityRange(
                        CapacityRange.newBuilder().setRequiredBytes(200 * MIB).build())
                    .build());
    assertThat(answer.getNodeExpansionRequired()).isTrue();
    driver()
        .node()
        .nodeExpandVolume(
            NodeExpandVolumeRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(folder)
                .build());

    assertThat(Long.parseLong(guest.run("stat -f -c %%b %s".formatted(folder))) * 4096)
        .isGreaterThan(170 * MIB);
    driver().unmount(volume);
    driver().delete(volume);
  }

  @Test
  void a_kata_image_file_is_mounted_through_a_loop_device() {
    Volume volume = driver().create("kata", 64 * MIB, Map.of("kataContainers", "true"));

    String folder = driver().mount(volume, "ext4");

    assertThat(guest.run("losetup -n -O BACK-FILE")).endsWith("kata-containers-pmem-csi-vm.img");
    guest.run("echo inside > %s/file".formatted(folder));
    driver().unmount(volume);
    driver().delete(volume);
  }
}
