package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import csi.v1.Volume;
import csi.v1.VolumeCondition;
import io.grpc.Context;
import io.grpc.Status;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.testbed.guest.ExecResult;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@WithPmemGuest
class LvmDriverIT extends DriverInGuest {
  LvmDriverIT(PmemGuest guest) {
    super(guest, "lvm", CAMPAIGN ? 100 : 10, Shutdown.POWER_CUT);
  }

  /** Adds a namespace to each group, which provides its size without metadata. */
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
  void aVolumeSpansNonContiguousExtentsOfAGroup() {
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
  void aMountedVolumeIsExpanded(String type, long before, long after) {
    Volume volume = driver().create("growing", before * MIB, QUICK);
    String directory = driver().mount(volume, type);
    guest.run("echo kept > %s/file".formatted(directory));

    driver().expand(volume, after * MIB, directory);

    assertThat(Long.parseLong(guest.run("stat -f -c %%b %s".formatted(directory))) * 4096)
        .isGreaterThan(after * MIB * 85 / 100);
    assertThat(guest.run("cat %s/file".formatted(directory))).isEqualTo("kept");
    driver().unmount(volume);
    driver().delete(volume);
  }

  @Test
  void aPublishedRawBlockVolumeIsExpandedUpToTheAvailableCapacity() {
    long group = largest();
    Volume volume = driver().create("raw growing", 16 * MIB, QUICK);
    String device = driver().publishBlock(volume);
    guest.run("printf kept | dd of=%s bs=1M seek=3 conv=notrunc,fsync".formatted(device));
    long available = driver().capacity().getAvailableCapacity();

    assertRefused(Status.Code.OUT_OF_RANGE, () -> driver().expand(volume, group + 4 * MIB, device));

    assertThat(sizeOf(device)).isEqualTo(16 * MIB);
    assertThat(driver().capacity().getAvailableCapacity()).isEqualTo(available);

    assertThat(driver().expand(volume, 63 * MIB, device)).isEqualTo(64 * MIB);

    assertThat(sizeOf(device)).isEqualTo(64 * MIB);
    assertThat(driver().capacity().getAvailableCapacity()).isEqualTo(available - 48 * MIB);
    assertThat(guest.run("dd if=%s bs=1M skip=3 count=1 | head -c 4".formatted(device)))
        .isEqualTo("kept");
    driver().unpublish(volume.getVolumeId(), device);
    driver().delete(volume);
  }

  private long sizeOf(String device) {
    return Long.parseLong(guest.run("blockdev --getsize64 " + device));
  }

  /** Cancelled at the worst moment: the volume exists, and its command still runs. */
  @Test
  void aCancelledCreationKillsItsCommandAndLeavesNothing() throws Exception {
    long available = driver().capacity().getAvailableCapacity();
    String id = VolumeId.fromName("cancelled").value();
    hangAfter("lvm lvcreate \"$@\"");
    Context.CancellableContext call = Context.current().withCancellation();
    try (ExecutorService caller = Executors.newSingleThreadExecutor()) {
      Future<?> creation = caller.submit(call.wrap(() -> driver().create("cancelled", 0, QUICK)));
      guest.run("until pgrep -f 'sleep 123[4]' > /dev/null; do sleep 0.1; done");
      assertThat(guest.run("lvs --noheadings -o lv_name").strip()).isEqualTo(id);

      call.cancel(null);

      assertThatThrownBy(creation::get).hasMessageContaining("CANCELLED");
      // waits for the in-flight call for this volume
      assertRefused(Status.Code.NOT_FOUND, () -> driver().unstage(id));
      assertThat(guest.run("pgrep -fa 'sleep 123[4]' || true")).as("still running").isEmpty();
      assertThat(driver().capacity().getAvailableCapacity()).isEqualTo(available);
    } finally {
      call.cancel(null);
      guest.run("ln -sf lvm $(command -v lvcreate)");
    }
  }

  /** LVM hangs with any device that it scans, and kubelet asks for the volumes of all pods. */
  @Test
  void otherVolumesReportTheirUsageWhileACommandOfLvmHangs() throws Exception {
    Volume volume = driver().create("in use", 64 * MIB, QUICK);
    String directory = driver().mount(volume, "ext4");
    hangAfter("true");
    Context.CancellableContext call = Context.current().withCancellation();
    try (ExecutorService callers = Executors.newFixedThreadPool(2)) {
      Future<?> creation = callers.submit(call.wrap(() -> driver().create("hanging", 0, QUICK)));
      guest.run("until pgrep -f 'sleep 123[4]' > /dev/null; do sleep 0.1; done");

      Future<VolumeCondition> condition =
          callers.submit(() -> driver().condition(volume, directory));

      assertThat(condition.get(20, TimeUnit.SECONDS).getAbnormal()).isFalse();
      assertThat(creation.isDone()).isFalse();
      call.cancel(null);
      assertThatThrownBy(creation::get).hasMessageContaining("CANCELLED");
      assertRefused(
          Status.Code.NOT_FOUND, () -> driver().unstage(VolumeId.fromName("hanging").value()));
    } finally {
      call.cancel(null);
      guest.run("ln -sf lvm $(command -v lvcreate)");
    }
    driver().unmount(volume);
    driver().delete(volume);
  }

  /** Replaces lvcreate by a command that is followed by a long sleep. */
  private void hangAfter(String command) {
    guest.run(
        """
        set -e
        tool=$(command -v lvcreate); rm $tool
        printf '#!/bin/bash\n%s; sleep 1234\n' > $tool
        chmod +x $tool
        """
            .formatted(command));
  }

  @Test
  void anUnreadableVolumeIsNotFormattedAgain() {
    Volume volume = driver().create("unreadable", 64 * MIB, QUICK);
    guest.run("echo precious > %s/file; sync".formatted(driver().mount(volume, "ext4")));
    driver().unmount(volume);
    // without udev the link of a logical volume points to its node in /dev/mapper
    String name =
        guest.run("basename $(readlink -f /dev/*fsdax/%s)".formatted(volume.getVolumeId()));
    guest.run(
        """
        set -e
        dmsetup table %s > /run/table
        dmsetup suspend %s
        dmsetup load %s --table "0 $(blockdev --getsz /dev/mapper/%s) error"
        dmsetup resume %s
        """
            .formatted(name, name, name, name, name));

    assertThatThrownBy(() -> driver().mount(volume, "ext4"))
        .hasMessageContaining("FAILED_PRECONDITION")
        .hasMessageContaining("not formatted again: expected ext4 with UUID")
        .hasMessageContaining("found a device that cannot be read");

    guest.run(
        "dmsetup suspend %s; dmsetup load %s < /run/table; dmsetup resume %s"
            .formatted(name, name, name));
    assertThat(guest.run("cat %s/file".formatted(driver().mount(volume, "ext4"))))
        .isEqualTo("precious");
    driver().unmount(volume);
    driver().delete(volume);
  }

  @Test
  void anUnknownVolumeIsKeptAndAnAuditChangesNothing() {
    Volume volume = driver().create("audited", 0, QUICK);
    String group =
        guest
            .run("lvs --noheadings -o vg_name -S lv_name=%s".formatted(volume.getVolumeId()))
            .strip();
    String unknown = VolumeId.fromName("unknown").value();
    guest.run(
        """
        set -e
        lvchange --activate=n %s/%s
        lvcreate --quiet --yes -Zn -Wn --activate=n --size=4m --name=%s %s > /dev/null
        """
            .formatted(group, volume.getVolumeId(), unknown, group));
    String before = guest.run("lvs --noheadings -o lv_name,lv_active; cat /proc/mounts");
    // the driver has not read the report of LVM since; it does not own the volume
    assertRefused(Status.Code.INTERNAL, () -> driver().create("unknown", 0, QUICK));

    ExecResult audit =
        guest.exec(
            PackagedProgram.DRIVER + " audit -deviceManager=lvm " + GuestDriver.STATE_FLAG,
            Duration.ofMinutes(3));

    assertThat(audit.exitCode()).as(audit.stderr()).isEqualTo(1);
    assertThat(audit.stdout())
        .contains("1 volumes in the ledger, 2 devices, 1 findings")
        .containsPattern("device-without-record +" + unknown);
    assertThat(guest.run("lvs --noheadings -o lv_name,lv_active; cat /proc/mounts"))
        .isEqualTo(before);
    guest.run("lvremove --quiet --yes %s/%s > /dev/null".formatted(group, unknown));
    driver().delete(volume);
  }

  /** The driver takes memory that appears later into use, but no damaged groups. */
  @Test
  void aVolumeMissingAtTheStartIsFoundLaterAndNeitherRemovedNorOverwritten() {
    Volume volume = driver().create("hidden", 0, QUICK);
    String group =
        guest
            .run("lvs --noheadings -o vg_name -S lv_name=%s".formatted(volume.getVolumeId()))
            .strip();
    String region = group.replaceAll("ndbus\\d+(region\\d+)fsdax", "$1");
    String device =
        guest.run("pvs --noheadings -o pv_name -S vg_name=%s | head -n 1".formatted(group)).strip();
    driver().close();
    guest.run(
        "set -e; vgchange -q --activate=n %s > /dev/null; ndctl disable-region %s"
            .formatted(group, region));
    start(50);

    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver().delete(volume));
    long without = driver().capacity().getAvailableCapacity();
    guest.run("ndctl enable-region " + region);
    await("region taken into use without a restart")
        .untilAsserted(
            () -> assertThat(driver().capacity().getAvailableCapacity()).isGreaterThan(without));
    String directory = driver().mount(volume, "ext4");
    assertThat(driver().hasDax(directory)).isTrue();
    driver().unmount(volume);
    assertThat(driver().list()).containsExactly(volume.getVolumeId());
    driver().close();

    guest.run(
        """
        set -e
        dd if=%s of=/run/label bs=4k count=1
        dd if=/dev/zero of=%s bs=4k count=1 conv=fsync
        """
            .formatted(device, device));
    ExecResult refused =
        guest.exec(
            "%s -mode=node -deviceManager=lvm %s -endpoint=unix:///run/refused -nodeid=guest %s"
                .formatted(
                    PackagedProgram.DRIVER, GuestDriver.STATE_FLAG, "-pmemPercentage=50 2>&1"),
            Duration.ofMinutes(3));
    assertThat(refused.exitCode()).as(refused.stdout()).isEqualTo(1);
    assertThat(refused.stdout())
        .contains("expected the volume group %s on %s".formatted(group, device));
    guest.run("dd if=/run/label of=%s bs=4k count=1 conv=fsync".formatted(device));

    start(50);
    driver().delete(volume);
  }

  /** The device mode is not changed back, so this test runs last. */
  @Order(Integer.MAX_VALUE)
  @Test
  void aDriverOfAnotherDeviceModeReplacesAKilledOne() throws Exception {
    Volume volume = driver().create("of lvm", 64 * MIB, QUICK);
    String directory = driver().mount(volume, "ext4");
    guest.run("echo kept > %s/file".formatted(directory));
    killDuringCalls();

    start("direct", 50);

    assertThat(driver().list()).contains(volume.getVolumeId());
    assertThat(driver().mount(volume, "ext4")).as("published again").isEqualTo(directory);
    assertThat(guest.run("cat %s/file".formatted(directory))).isEqualTo("kept");
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver().delete(volume));
    driver().unmount(volume);
    assertThat(guest.run("cat %s/file".formatted(driver().mount(volume, "ext4"))))
        .isEqualTo("kept");
    driver().unmount(volume);
    driver().delete(volume);
    finishCalls();
  }
}
