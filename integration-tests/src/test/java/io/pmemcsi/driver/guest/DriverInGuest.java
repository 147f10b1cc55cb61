package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import csi.v1.GetCapacityResponse;
import csi.v1.Snapshot;
import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.testbed.guest.ExecResult;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests for every device mode with real memory; each test deletes its volumes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class DriverInGuest {
  static final long MIB = 1L << 20;
  static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");

  /** Skips erasing, which is slow; a few tests cover it. */
  static final Map<String, String> QUICK = Map.of("eraseafter", "false");

  private static final List<String> WORK = List.of("kill-0", "kill-1", "kill-2");
  private static final long SEED = Long.getLong("pmem-csi.kill.seed", 5);

  /** How the machine shuts down. */
  enum Shutdown {
    REBOOT,
    POWER_CUT
  }

  final PmemGuest guest;
  final String mode;
  private final int stressVolumes;
  private final Shutdown down;
  private final SplittableRandom random = new SplittableRandom(SEED);
  private GuestDriver driver;

  DriverInGuest(PmemGuest guest, String mode, int stressVolumes, Shutdown down) {
    this.guest = guest;
    this.mode = mode;
    this.stressVolumes = stressVolumes;
    this.down = down;
    GuestDriver.cleanUp(guest);
    this.driver = GuestDriver.start(guest, mode, 50);
  }

  final GuestDriver driver() {
    return driver;
  }

  final void start(int pmemPercentage) {
    start(mode, pmemPercentage);
  }

  final void start(String deviceMode, int pmemPercentage) {
    driver.disconnect();
    driver = GuestDriver.start(guest, deviceMode, pmemPercentage);
  }

  /** The available capacity with pmemPercentage 80, given that with 50. */
  abstract long afterRaise(long availableBefore);

  @AfterEach
  void assertNoLeaks() {
    driver.assertNothingLeft();
  }

  @AfterAll
  void stop() {
    driver.close();
    GuestDriver.cleanUp(guest);
  }

  @Test
  void mountedVolumesHaveDaxWithHugePagesAndSurviveAShutdown() {
    long before = driver.capacity().getAvailableCapacity();
    Volume ext4 = driver.create("ext4", 320 * MIB, QUICK);
    Volume xfs = driver.create("xfs", 320 * MIB, QUICK);
    Map<Volume, String> types = Map.of(ext4, "ext4", xfs, "xfs");
    for (Map.Entry<Volume, String> entry : types.entrySet()) {
      Volume volume = entry.getKey();
      String directory = driver.mount(volume, entry.getValue());
      assertThat(driver.hasDax(directory)).as(directory).isTrue();
      assertHugePages(directory);
      // sync only the file of the pod: the driver must sync its own state
      guest.run("echo precious > %s/file; sync %s/file".formatted(directory, directory));
    }
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.delete(ext4));

    driver.unmount(xfs);
    List<String> ids = new ArrayList<>(List.of(ext4.getVolumeId(), xfs.getVolumeId()));
    Volume deleted = driver.create("deleted", 0, QUICK);
    driver.delete(deleted);
    // no time for write-back
    Volume last = driver.create("last", 0, QUICK);
    ids.add(last.getVolumeId());

    for (Shutdown way : CAMPAIGN ? List.of(Shutdown.values()) : List.of(down)) {
      switch (way) {
        case REBOOT -> guest.reboot();
        case POWER_CUT -> guest.powerCut();
      }
      start(80);
      assertThat(driver.list()).containsExactlyInAnyOrderElementsOf(ids);
      assertThat(driver.metrics())
          .as("findings")
          .doesNotContainPattern("pmem_csi_audit_findings\\{kind=\"[a-z-]+\"} [1-9]");
      types.forEach(this::mountAgain);
    }
    driver.delete(last);

    for (Volume volume : types.keySet()) {
      driver.delete(volume);
      driver.delete(volume);
    }
    assertThat(driver.capacity().getAvailableCapacity()).isEqualTo(afterRaise(before));
  }

  @ParameterizedTest
  @CsvSource({"ext4, 64", "xfs, 320"})
  void aSnapshotHoldsWhatAMountedVolumeHeldAndIsRestoredBesideIt(String type, long mib) {
    long before = driver.capacity().getAvailableCapacity();
    Volume volume = driver.create("source", mib * MIB, QUICK);
    String directory = driver.mount(volume, type);
    guest.run("echo before > %s/file".formatted(directory));

    Snapshot snapshot = driver.snapshot("snapshot", volume);
    guest.run("echo after > %s/file".formatted(directory));
    Volume restored = driver.restore("restored", snapshot, QUICK);
    String copy = driver.mount(restored, type);

    assertThat(guest.run("cat %s/file".formatted(copy))).isEqualTo("before");
    assertThat(guest.run("cat %s/file".formatted(directory))).isEqualTo("after");
    assertThat(driver.hasDax(copy)).isTrue();
    assertThat(driver.list()).doesNotContain(snapshot.getSnapshotId());
    driver.unmount(restored);
    driver.unmount(volume);
    driver.delete(restored);
    driver.delete(volume);
    driver.delete(snapshot);
    assertThat(driver.capacity().getAvailableCapacity()).isEqualTo(before);
  }

  private void mountAgain(Volume volume, String type) {
    String directory = driver.mount(volume, type);
    assertThat(guest.run("cat %s/file".formatted(directory))).isEqualTo("precious");
    assertThat(driver.hasDax(directory)).as(directory).isTrue();
    driver.unmount(volume);
  }

  @Test
  void aKilledDriverContinuesAfterItsRestart() throws Exception {
    assumeTrue(
        CAMPAIGN || mode.equals("direct"),
        "CrashInGuestIT kills the driver in LVM mode and starts it again");
    for (int kill = 0; kill < (CAMPAIGN ? 5 : 1); kill++) {
      killDuringCalls();
      start(50);
    }
    finishCalls();
  }

  /** Kills the driver during the lifecycles of volumes. */
  final void killDuringCalls() throws InterruptedException {
    try (ExecutorService workers = Executors.newFixedThreadPool(WORK.size())) {
      WORK.forEach(name -> workers.execute(() -> runLifecycleUntilKilled(name)));
      Thread.sleep(random.nextLong(300, 3_000));
      driver.kill();
    }
  }

  /** Repeats the calls, which must succeed. */
  final void finishCalls() {
    for (String name : WORK) {
      try {
        runLifecycle(name);
      } catch (StatusRuntimeException e) {
        // killed while it deleted this volume: finish the deletion first
        assertThat(e.getStatus().getCode()).as(e.getMessage()).isEqualTo(Status.Code.ABORTED);
        driver.delete(name);
        runLifecycle(name);
      }
    }
  }

  private void runLifecycleUntilKilled(String name) {
    try {
      runLifecycle(name);
    } catch (StatusRuntimeException e) {
      // killed
    }
  }

  @Test
  void aMissingSizeMeansTheMinimumAndATooLargeSizeIsRefused() {
    Volume smallest = driver.create("smallest", 0, Map.of());
    assertThat(smallest.getCapacityBytes()).isBetween(1L, 32 * MIB);

    assertRefused(
        Status.Code.RESOURCE_EXHAUSTED, () -> driver.create("too large", 1L << 50, Map.of()));
    assertRefused(Status.Code.NOT_FOUND, () -> driver.unstage("unknown"));
    assertThat(driver.list()).containsExactly(smallest.getVolumeId());
    driver.delete(smallest);
  }

  @IndependentOfDeviceMode
  @Test
  void namesWithUnusualCharactersWork() {
    for (String name : List.of("pvmove", "a_mlog", "snapshot", "../ü")) {
      driver.delete(driver.create(name, 0, QUICK));
    }
  }

  @IndependentOfDeviceMode
  @Test
  void dataOfADeletedVolumeDoesNotReappear() {
    Volume earlier = driver.create("earlier", 320 * MIB, QUICK);
    guest.run("echo old > %s/file".formatted(driver.mount(earlier, "ext4")));
    driver.unmount(earlier);
    driver.delete(earlier);

    Volume later = driver.create("later", 320 * MIB, QUICK);

    assertThat(contentOf(driver.mount(later, "xfs"))).isEmpty();
    driver.unmount(later);
    driver.delete(later);
  }

  @IndependentOfDeviceMode
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRawBlockVolumeIsErasedIfRequested(boolean erase) {
    Map<String, String> parameters = Map.of("eraseafter", Boolean.toString(erase));
    Volume volume = driver.create("raw", 16 * MIB, parameters);
    String device = driver.publishBlock(volume);
    // outside of the areas in which signatures are wiped
    guest.run("printf secret | dd of=%s bs=1M seek=6 conv=notrunc,fsync".formatted(device));
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.delete(volume));
    driver.unpublish(volume.getVolumeId(), device);
    assertThat(secretOf(driver.publishBlock(volume))).isEqualTo("secret");
    driver.unpublish(volume.getVolumeId(), device);
    driver.delete(volume);

    Volume next = driver.create("next", 16 * MIB, QUICK);

    String found = secretOf(driver.publishBlock(next));
    driver.unpublish(next.getVolumeId(), GuestDriver.PODS + "raw-" + next.getVolumeId());
    driver.delete(next);
    // without erasing, the old data must be visible, which proves that the test reads the same
    // memory
    assertThat(found).isEqualTo(erase ? "" : "secret");
  }

  private String secretOf(String device) {
    return guest.run(
        "dd if=%s bs=1M skip=6 count=1 2> /dev/null | head -c 6 | tr -d '\\0'".formatted(device));
  }

  @IndependentOfDeviceMode
  @Test
  void callsAreServedWhileALargeVolumeIsErased() throws Exception {
    boolean served = false;
    // on a busy machine the erase may finish before the first poll
    for (int attempt = 0; attempt < 5 && !served; attempt++) {
      served = servesCallsDuringErase(driver.create("large-" + attempt, 500 * MIB, Map.of()));
    }
    assertThat(served).as("calls served during the erase").isTrue();
    assertThat(driver.metrics())
        .doesNotContain("pmem_csi_erase_progress_ratio{")
        .contains("csi_plugin_operations_seconds_count{driver_name=\"pmem-csi.intel.com\"")
        .contains("pmem_amount_available{driver_name=\"pmem-csi.intel.com\",node=\"guest\"} ")
        .contains("build_info{");
  }

  /** Whether calls were served during the erase; deletes the volume in any case. */
  private boolean servesCallsDuringErase(Volume large) throws Exception {
    try (ExecutorService caller = Executors.newSingleThreadExecutor()) {
      Future<?> deletion = caller.submit(() -> driver.delete(large));
      String progress =
          "pmem_csi_erase_progress_ratio{volume=\"%s\"} 0.".formatted(large.getVolumeId());
      await()
          .atMost(GuestDriver.TIMEOUT)
          .pollInterval(Duration.ofMillis(20))
          .until(() -> deletion.isDone() || driver.metrics().contains(progress));
      boolean erasing = driver.list().contains(large.getVolumeId()) && !deletion.isDone();
      driver.delete(driver.create("small", 0, QUICK));
      deletion.get();
      return erasing;
    }
  }

  @Test
  void twoDriversOnANodeDoNotReportEachOthersVolumes() {
    Volume first = driver.create("of-the-first", 0, QUICK);
    try (GuestDriver another = GuestDriver.startSecond(guest, mode, 50)) {
      Volume second = another.create("of-the-second", 0, QUICK);

      assertThat(driver.list()).containsExactly(first.getVolumeId());
      assertThat(another.list()).containsExactly(second.getVolumeId());
      for (String flags : List.of(GuestDriver.STATE_FLAG, GuestDriver.SECOND_FLAGS)) {
        ExecResult audit = audit(flags);
        assertThat(audit.exitCode()).as(audit.stdout() + audit.stderr()).isZero();
      }
      another.delete(second);
      assertThat(driver.list()).containsExactly(first.getVolumeId());
    }
    driver.delete(first);
  }

  private ExecResult audit(String flags) {
    return guest.exec(
        "%s audit -deviceManager=%s %s".formatted(PackagedProgram.DRIVER, mode, flags),
        Duration.ofMinutes(3));
  }

  /** The kernel takes bad blocks from sysfs, and fails reads of them as it does for real ones. */
  @Test
  void badBlocksAndAVanishedDeviceMakeAVolumeAbnormal() {
    Volume volume = driver.create("abnormal", 64 * MIB, QUICK);
    String directory = driver.mount(volume, "ext4");
    assertThat(driver.condition(volume, directory).getAbnormal()).isFalse();
    String disk =
        guest.run(
            """
            set -e
            source=$(findmnt --noheadings --output SOURCE %s)
            disk=/sys/dev/block/$(stat -L -c %%Hr:%%Lr $source) first=0
            if [ -d $disk/dm ]; then
              set -- $(dmsetup table $source)
              disk=$(echo $disk/slaves/*) first=$5
            fi
            echo "$((first + 2048)) 8" > $disk/badblocks
            readlink -f $disk
            """
                .formatted(directory));

    assertThat(driver.condition(volume, directory).getAbnormal()).isTrue();
    assertThat(driver.condition(volume, directory).getMessage())
        .startsWith("4096 bytes in 1 places cannot be read, the first at byte 1048576 of");
    assertThat(audit(GuestDriver.STATE_FLAG).stdout())
        .containsPattern("bad-blocks +" + volume.getVolumeId());

    String namespace = guest.run("basename $(readlink -f %s/device)".formatted(disk));
    guest.run("echo %s > /sys/bus/nd/drivers/nd_pmem/unbind".formatted(namespace));
    assertThat(driver.condition(volume, directory).getAbnormal()).isTrue();
    assertThat(driver.condition(volume, directory).getMessage()).contains("has vanished");

    driver.unmount(volume);
    guest.run("echo %s > /sys/bus/nd/drivers/nd_pmem/bind".formatted(namespace));
    driver.delete(volume);
  }

  @Test
  void aVolumeIsInTheMemoryOfTheRequestedNumaNode() {
    for (String node : List.of("1", "0")) {
      Volume volume = driver.create("numa", 0, onNumaNode(node));
      assertThat(volume.getVolumeContextMap()).containsEntry("numaNode", node);
      String directory = driver.mount(volume, "ext4");
      assertThat(numaNodeOf(directory)).isEqualTo(node);
      driver.unmount(volume);
      assertRefused(
          Status.Code.ALREADY_EXISTS,
          () -> driver.create("numa", 0, onNumaNode(node.equals("0") ? "1" : "0")));
      driver.delete(volume);
    }

    GetCapacityResponse before = driver.capacity(Map.of("numaNode", "1"));
    assertThat(before.getAvailableCapacity())
        .isBetween(1L, driver.capacity().getAvailableCapacity() - 1);
    Volume all = driver.create("all", before.getMaximumVolumeSize().getValue(), onNumaNode("1"));
    assertThatThrownBy(() -> driver.create("more", 64 * MIB, onNumaNode("1")))
        .hasMessageStartingWith("RESOURCE_EXHAUSTED: ")
        .hasMessageContaining("for 67108864 bytes on NUMA node 1 (parameter \"numaNode\")");
    assertThat(driver.capacity(Map.of("numaNode", "1")).getMaximumVolumeSize().getValue())
        .isLessThan(64 * MIB);
    assertThat(driver.capacity(Map.of("numaNode", "7")).getAvailableCapacity()).isZero();
    assertRefused(Status.Code.INVALID_ARGUMENT, () -> driver.capacity(Map.of("numaNode", "near")));
    assertRefused(Status.Code.INVALID_ARGUMENT, () -> driver.create("bad", 0, onNumaNode("near")));
    assertThat(driver.metrics())
        .containsPattern(
            "pmem_region_amount_available\\{driver_name=\"pmem-csi.intel.com\",node=\"guest\","
                + "numa_node=\"0\",region=\"region\\d\"} [1-9]")
        .containsPattern(
            "pmem_region_amount_managed\\{driver_name=\"pmem-csi.intel.com\",node=\"guest\","
                + "numa_node=\"1\",region=\"region\\d\"} [1-9]");
    driver.delete(driver.create("anywhere", 64 * MIB, QUICK));
    driver.delete(all);
  }

  private static Map<String, String> onNumaNode(String node) {
    return Map.of("eraseafter", "false", "numaNode", node);
  }

  /** The NUMA node of the region below a mounted volume. */
  private String numaNodeOf(String directory) {
    return guest.run(
        """
        disk=$(readlink -f /sys/dev/block/$(stat -c %%Hd:%%Ld %s))
        [ ! -d $disk/dm ] || disk=$(readlink -f $disk/slaves/*)
        cat ${disk%%%%/region*}/region$(echo ${disk#*/region} | cut -d/ -f1)/numa_node
        """
            .formatted(directory));
  }

  /** With correct alignment one 2 MiB page replaces 512 small ones. */
  private void assertHugePages(String directory) {
    String faults =
        guest.run(
            """
            set -e
            t=/sys/kernel/tracing
            mountpoint -q $t || mount -t tracefs none $t
            echo > $t/trace; echo 1 > $t/events/fs_dax/dax_pmd_fault_done/enable
            xfs_io -f -c "falloc 0 8m" -c "pwrite -q 0 8m" -c "mmap -rw 0 8m" \
              -c "mwrite 0 8m" %s/pages
            echo 0 > $t/events/fs_dax/dax_pmd_fault_done/enable
            grep -c 'dax_pmd_fault_done.*NOPAGE' $t/trace || true
            """
                .formatted(directory));
    assertThat(Integer.parseInt(faults)).as("faults of huge pages in " + directory).isPositive();
  }

  @Test
  void aKataImageFileCanBeReadAsADisk() {
    String type = mode.equals("direct") ? "xfs" : "ext4";
    Volume volume =
        driver.create(
            "kata",
            (type.equals("xfs") ? 640 : 64) * MIB,
            Map.of("kataContainers", "true", "eraseafter", "false"));
    String image = driver.stagingPath(volume) + "/kata-containers-pmem-csi-vm.img";

    String directory = driver.mount(volume, type);

    assertThat(guest.run("losetup -n -O BACK-FILE")).endsWith("kata-containers-pmem-csi-vm.img");
    guest.run("echo inside > %s/file".formatted(directory));
    driver.unpublish(volume.getVolumeId(), directory);
    // the kernel reads the partition table
    assertThat(
            guest.run(
                """
                set -e
                mkdir -p /mnt/kata
                loop=$(losetup --find --show --partscan --read-only %s)
                mount -t %s -o ro%s ${loop}p1 /mnt/kata
                cat /mnt/kata/file
                umount /mnt/kata; losetup -d $loop
                """
                    .formatted(image, type, type.equals("xfs") ? ",norecovery" : "")))
        .isEqualTo("inside");
    driver.unstage(volume.getVolumeId());
    driver.delete(volume);
  }

  @Test
  void ephemeralVolumesLiveAsLongAsTheirPod() throws Exception {
    List<Future<?>> pods = new ArrayList<>();
    try (ExecutorService workers = Executors.newFixedThreadPool(2)) {
      // the ephemeral flag makes no difference for the device
      boolean[] flags =
          CAMPAIGN || mode.equals("lvm") ? new boolean[] {true, false} : new boolean[] {true};
      for (boolean flag : flags) {
        for (String type : List.of("", "ext4", "xfs")) {
          pods.add(workers.submit(() -> ephemeral("csi-" + flag + type, flag, type)));
        }
      }
    }
    for (Future<?> pod : pods) {
      pod.get();
    }
  }

  private void ephemeral(String handle, boolean flag, String type) {
    boolean often = CAMPAIGN || (flag && type.isEmpty());
    for (int i = 0; i < (CAMPAIGN ? 10 : often ? 2 : 1); i++) {
      String directory =
          driver.publishEphemeral(handle, type, type.equals("xfs") ? "320Mi" : "32Mi", flag);
      assertThat(driver.hasDax(directory)).as(handle).isTrue();
      assertThat(contentOf(directory)).as(handle).isEmpty();
      guest.run("echo scratch > %s/file".formatted(directory));
      driver.unpublish(handle, directory);
    }
  }

  private String contentOf(String directory) {
    return guest.run(
        """
        cd %s; shopt -s nullglob
        for f in *; do case $f in lost+found | probe) ;; *) echo $f ;; esac; done
        """
            .formatted(directory));
  }

  @IndependentOfDeviceMode
  @Test
  void fileIoVolumesHaveNoDax() {
    Volume volume = driver.create("files", 32 * MIB, Map.of("usage", "FileIO"));
    assertThat(driver.hasDax(driver.mount(volume, "ext4"))).isFalse();
    driver.unmount(volume);
    driver.delete(volume);
  }

  @Test
  void concurrentVolumeLifecyclesAreIndependent() throws Exception {
    List<Future<?>> lifecycles = new ArrayList<>();
    try (ExecutorService workers = Executors.newFixedThreadPool(10)) {
      IntStream.range(0, stressVolumes)
          .forEach(i -> lifecycles.add(workers.submit(() -> runLifecycle("stress-" + i))));
    }
    for (Future<?> lifecycle : lifecycles) {
      lifecycle.get();
    }
  }

  private void runLifecycle(String name) {
    Volume volume = driver.create(name, 15 * MIB, Map.of());
    String directory = driver.mount(volume, "ext4");
    guest.run("echo %s > %s/file".formatted(name, directory));
    driver.unmount(volume);
    driver.delete(volume);
  }

  static void assertRefused(Status.Code code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> assertThat(e.getStatus().getCode()).as(e.getMessage()).isEqualTo(code));
  }
}
