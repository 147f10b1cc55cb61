package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.Volume;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@WithPmemGuest
class LvmDriverIT extends DriverInGuest {
  LvmDriverIT(PmemGuest guest) {
    super(guest, "lvm", CAMPAIGN ? 100 : 10, GoingDown.POWER_CUT);
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
  void piecesOfAGroupMakeOneVolume() {
    Volume otherRegion = driver().create("other region", largest(), QUICK);
    long unit = largest() / 4 - largest() / 4 % (4 * MIB);
    List<Volume> volumes = new ArrayList<>();
    for (String name : List.of("a", "b", "c", "d")) {
      volumes.add(driver().create(name, unit, QUICK));
    }
    assertThat(largest()).isLessThan(unit);

    driver().delete(volumes.remove(3));
    driver().delete(volumes.remove(1));
    driver().delete(volumes.remove(0));

    assertThat(largest())
        .isGreaterThanOrEqualTo(3 * unit)
        .isEqualTo(driver().capacity().getAvailableCapacity());
    long asReported = largest();
    Volume big = driver().create("big", asReported, QUICK);
    assertThat(big.getCapacityBytes()).isEqualTo(asReported);
    assertThat(largest()).isZero();
    driver().delete(big);
    driver().delete(otherRegion);
    volumes.forEach(driver()::delete);
  }

  private long largest() {
    return driver().capacity().getMaximumVolumeSize().getValue();
  }

  @ParameterizedTest
  @CsvSource({"ext4, 64, 200", "xfs, 320, 480"})
  void aMountedVolumeGrows(String type, long before, long after) {
    Volume volume = driver().create("growing", before * MIB, QUICK);
    String folder = driver().mount(volume, type);
    guest.run("echo kept > %s/file".formatted(folder));

    var answer =
        driver()
            .controller()
            .controllerExpandVolume(
                ControllerExpandVolumeRequest.newBuilder()
                    .setVolumeId(volume.getVolumeId())
                    .setCapacityRange(
                        CapacityRange.newBuilder().setRequiredBytes(after * MIB).build())
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
        .isGreaterThan(after * MIB * 85 / 100);
    assertThat(guest.run("cat %s/file".formatted(folder))).isEqualTo("kept");
    driver().unmount(volume);
    driver().delete(volume);
  }

  @Test
  void aKataImageFileCanBeReadAsMemoryAndAsAFilesystem() {
    Volume volume =
        driver().create("kata", 64 * MIB, Map.of("kataContainers", "true", "eraseafter", "false"));
    String image = driver().stagingPath(volume) + "/kata-containers-pmem-csi-vm.img";

    String folder = driver().mount(volume, "ext4");

    assertThat(guest.run("losetup -n -O BACK-FILE")).endsWith("kata-containers-pmem-csi-vm.img");
    guest.run("echo inside > %s/file".formatted(folder));
    driver().unpublish(volume.getVolumeId(), folder);
    assertThat(guest.run("head -c 512 %s | tail -c 2 | od -An -tx1".formatted(image)))
        .as("partition table")
        .isEqualTo(" 55 aa");
    assertThat(guest.run("head -c 4111 %s | tail -c 15".formatted(image)))
        .isEqualTo("NVDIMM_PFN_INFO");
    assertThat(
            guest.run(
                """
                set -e
                mkdir -p /mnt/kata
                mount -o ro,loop,offset=2097152 %s /mnt/kata
                cat /mnt/kata/file
                umount /mnt/kata
                """
                    .formatted(image)))
        .isEqualTo("inside");
    driver().unstage(volume.getVolumeId());
    driver().delete(volume);
  }
}
