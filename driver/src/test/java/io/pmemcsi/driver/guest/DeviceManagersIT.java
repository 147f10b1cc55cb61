package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.driver.device.Capacity;
import io.pmemcsi.driver.device.Device;
import io.pmemcsi.driver.volume.VolumeId;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@WithPmemGuest
class DeviceManagersIT {
  private static final long MIB = 1L << 20;

  private final PmemGuest guest;

  DeviceManagersIT(PmemGuest guest) {
    this.guest = guest;
  }

  @AfterEach
  void emptyTheNvdimms() {
    guest.run(
        """
        umount /mnt/* 2> /dev/null; vgs --noheadings -o vg_name | xargs -r vgremove -q -f -y
        ndctl destroy-namespace -f all; true
        """);
  }

  @Test
  void logical_volumes_on_two_regions_survive_a_reboot_and_their_groups_grow() {
    guest.initLabels();
    VolumeId first = VolumeId.fromName("first");
    VolumeId second = VolumeId.fromName("second");
    Capacity half;
    try (GuestDevices devices = GuestDevices.start(guest)) {
      devices.good("lvm 50");
      half = devices.capacity();
      assertThat(half.total()).isEqualTo(4096 * MIB);
      assertThat(half.managed()).isBetween(2048 * MIB * 95 / 100, 2048 * MIB);
      assertThat(half.available()).isEqualTo(half.managed());
      assertThat(half.maxVolumeSize()).isEqualTo(half.managed() / 2);

      Device device = devices.create(first, 100 * MIB + 1);
      assertThat(device.sizeBytes()).isEqualTo(104 * MIB).isEqualTo(sizeOf(device));
      mountWithDax(device);
      assertThat(devices.ask("delete " + first + " true")).startsWith("InUse ");
      assertThat(guest.run("cat /mnt/volume/file")).isEqualTo("precious");

      Device whole = devices.create(second, half.maxVolumeSize());
      assertThat(whole.path().getParent()).isNotEqualTo(device.path().getParent());
      assertThat(devices.ask("create %s %d APP_DIRECT".formatted(second, MIB)))
          .startsWith("Exists ");
      assertThat(devices.ask("create %s %d APP_DIRECT".formatted(VolumeId.fromName("x"), 1L << 50)))
          .startsWith("NotEnoughSpace ");
    }

    guest.reboot();
    try (GuestDevices devices = GuestDevices.start(guest)) {
      devices.good("lvm 100");
      assertThat(devices.list()).containsExactlyInAnyOrder(first, second);
      Capacity all = devices.capacity();
      assertThat(all.managed()).isBetween(4096 * MIB * 95 / 100, 4096 * MIB);
      assertThat(all.available()).isEqualTo(all.managed() - 104 * MIB - half.maxVolumeSize());

      Device device = devices.find(first);
      guest.run(
          "mkdir -p /mnt/volume && mount -o dax=always %s /mnt/volume".formatted(device.path()));
      assertThat(guest.run("cat /mnt/volume/file")).isEqualTo("precious");
      Device larger = devices.grow(first, 300 * MIB);
      assertThat(larger.sizeBytes()).isEqualTo(300 * MIB).isEqualTo(sizeOf(larger));
      guest.run("resize2fs %s 2>&1; umount /mnt/volume".formatted(device.path()));

      devices.delete(first, true);
      devices.delete(second, false);
      devices.delete(second, false);
      assertThat(devices.list()).isEmpty();
      assertThat(devices.capacity().available()).isEqualTo(all.managed());
      assertThat(guest.run("lvs --noheadings")).isEmpty();
    }
  }

  @Test
  void namespaces_fragment_a_region_as_reported() {
    guest.initLabels();
    try (GuestDevices devices = GuestDevices.start(guest)) {
      Capacity empty = devices.capacity();
      assertThat(empty.managed()).isEqualTo(4096 * MIB);
      long quarter = 492 * MIB; // four of these, with their bookkeeping, fill a region
      List<VolumeId> ids = Stream.of("a", "b", "c", "d").map(VolumeId::fromName).toList();
      for (VolumeId id : ids) {
        Device device = devices.create(id, quarter);
        assertThat(device.sizeBytes()).isGreaterThanOrEqualTo(quarter).isEqualTo(sizeOf(device));
      }
      VolumeId other = VolumeId.fromName("other region");
      devices.create(other, empty.maxVolumeSize());
      assertThat(devices.capacity().maxVolumeSize()).isZero();

      devices.delete(ids.get(0), true);
      devices.delete(ids.get(1), false);
      devices.delete(ids.get(3), false);
      Capacity fragmented = devices.capacity();
      assertThat(fragmented.maxVolumeSize()).isBetween(2 * quarter, 3 * quarter - 1);
      assertThat(fragmented.available()).isGreaterThanOrEqualTo(3 * quarter);
      VolumeId big = VolumeId.fromName("big");
      assertThat(
              devices.ask("create %s %d APP_DIRECT".formatted(big, fragmented.maxVolumeSize() + 1)))
          .startsWith("NotEnoughSpace ");
      Device large = devices.create(big, fragmented.maxVolumeSize());
      assertThat(large.sizeBytes()).isEqualTo(fragmented.maxVolumeSize());

      mountWithDax(large);
      assertThat(devices.ask("delete " + big + " false")).startsWith("InUse ");
      guest.run("umount /mnt/volume");
      for (VolumeId id : devices.list()) {
        devices.delete(id, false);
      }
      assertThat(devices.capacity()).isEqualTo(empty);

      Device smallest = devices.create(VolumeId.fromName("zero"), 0);
      assertThat(smallest.sizeBytes()).isPositive();
      Device sectors = devices.createForFiles(VolumeId.fromName("sectors"), 20 * MIB);
      assertThat(sectors.path().toString()).endsWith("s");
      assertThat(sectors.sizeBytes()).isGreaterThanOrEqualTo(20 * MIB).isEqualTo(sizeOf(sectors));
    }
  }

  @Test
  void raw_namespaces_become_volume_groups() {
    guest.replaceDevices();
    try (GuestDevices devices = GuestDevices.start(guest)) {
      assertThat(devices.ask("lvm 100")).isEqualTo("ok ");
      assertThat(devices.capacity().managed()).isZero();

      assertThat(devices.good("convert")).isEqualTo("2");
      assertThat(devices.good("convert")).isEqualTo("2");

      devices.good("lvm 100");
      assertThat(devices.capacity().managed()).isGreaterThan(3900 * MIB);
      mountWithDax(devices.create(VolumeId.fromName("v"), 100 * MIB));
    }
  }

  private void mountWithDax(Device device) {
    guest.run(
        """
        set -e
        mkfs.ext4 -q -b 4096 %s
        mkdir -p /mnt/volume
        mount -o dax=always %s /mnt/volume
        echo precious > /mnt/volume/file
        sync
        """
            .formatted(device.path(), device.path()));
    String attributes =
        guest.run("xfs_io -r -c 'statx -r' /mnt/volume/file | sed -n 's/^stat.attributes = //p'");
    assertThat(Long.decode(attributes) & 0x200000).as("DAX").isNotZero();
  }

  private long sizeOf(Device device) {
    return Long.parseLong(guest.run("blockdev --getsize64 " + device.path()));
  }
}
