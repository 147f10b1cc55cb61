package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.testbed.guest.PmemGuest;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What holds in every device mode with real memory; each test leaves no volume behind. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DriverInGuest {
  static final long MIB = 1L << 20;
  static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");

  /** Erasing is right and slow; one test of each kind does it. */
  static final Map<String, String> QUICK = Map.of("eraseafter", "false");

  private static final long SEED = Long.getLong("pmem-csi.kill.seed", 5);

  /** How a machine can go down. */
  enum GoingDown {
    REBOOT,
    POWER_CUT
  }

  final PmemGuest guest;
  final String mode;
  private final int stressVolumes;
  private final GoingDown down;
  private final SplittableRandom random = new SplittableRandom(SEED);
  private GuestDriver driver;

  DriverInGuest(PmemGuest guest, String mode, int stressVolumes, GoingDown down) {
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
    driver.disconnect();
    driver = GuestDriver.start(guest, mode, pmemPercentage);
  }

  /** What is available with pmemPercentage 80 where it was so much with 50. */
  abstract long afterRaise(long availableBefore);

  @AfterEach
  void lookForLeaks() {
    driver.assertNothingLeft();
  }

  @AfterAll
  void stop() {
    driver.close();
    GuestDriver.cleanUp(guest);
  }

  @Test
  void volumesHaveDaxAndSurviveThatTheMachineGoesDownAlthoughOneIsMounted() {
    long before = driver.capacity().getAvailableCapacity();
    Volume ext4 = driver.create("ext4", 64 * MIB, Map.of());
    Volume xfs = driver.create("xfs", 320 * MIB, QUICK);
    Map<Volume, String> types = Map.of(ext4, "ext4", xfs, "xfs");
    for (Map.Entry<Volume, String> entry : types.entrySet()) {
      Volume volume = entry.getKey();
      String folder = driver.mount(volume, entry.getValue());
      assertThat(driver.hasDax(folder)).as(folder).isTrue();
      // only the pod's own file: what the driver keeps has to be on disk without our help
      guest.run("echo precious > %s/file; sync %s/file".formatted(folder, folder));
    }
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.delete(ext4));

    driver.unmount(xfs);

    for (GoingDown way : CAMPAIGN ? List.of(GoingDown.values()) : List.of(down)) {
      switch (way) {
        case REBOOT -> guest.reboot();
        case POWER_CUT -> guest.powerCut();
      }
      start(80);
      assertThat(driver.list()).containsExactlyInAnyOrder(ext4.getVolumeId(), xfs.getVolumeId());
      types.forEach(this::mountAgain);
    }

    for (Volume volume : types.keySet()) {
      driver.delete(volume);
      driver.delete(volume);
    }
    assertThat(driver.capacity().getAvailableCapacity()).isEqualTo(afterRaise(before));
  }

  private void mountAgain(Volume volume, String type) {
    String folder = driver.mount(volume, type);
    assertThat(guest.run("cat %s/file".formatted(folder))).isEqualTo("precious");
    assertThat(driver.hasDax(folder)).as(folder).isTrue();
    driver.unmount(volume);
  }

  @Test
  void aDriverThatIsKilledAtWorkGoesOnAfterItsRestart() throws Exception {
    List<String> names = List.of("kill-0", "kill-1", "kill-2");
    for (int kill = 0; kill < (CAMPAIGN ? 5 : 1); kill++) {
      try (ExecutorService workers = Executors.newFixedThreadPool(names.size())) {
        names.forEach(name -> workers.execute(() -> liveUntilKilled(name)));
        Thread.sleep(random.nextLong(300, 3_000));
        driver.kill();
      }
      start(50);
    }
    for (String name : names) {
      try {
        live(name);
      } catch (StatusRuntimeException e) {
        // killed while it deleted this one: that comes first
        assertThat(e.getStatus().getCode()).as(e.getMessage()).isEqualTo(Status.Code.ABORTED);
        driver.delete(name);
        live(name);
      }
    }
  }

  private void liveUntilKilled(String name) {
    try {
      live(name);
    } catch (StatusRuntimeException e) {
      // killed
    }
  }

  @Test
  void noSizeGivesTheSmallestVolumeAndTooMuchIsRefused() {
    Volume smallest = driver.create("smallest", 0, Map.of());
    assertThat(smallest.getCapacityBytes()).isBetween(1L, 32 * MIB);

    assertRefused(
        Status.Code.RESOURCE_EXHAUSTED, () -> driver.create("too large", 1L << 50, Map.of()));
    assertRefused(Status.Code.NOT_FOUND, () -> driver.unstage("unknown"));
    assertThat(driver.list()).containsExactly(smallest.getVolumeId());
    driver.delete(smallest);
  }

  @Test
  void everyNameIsGoodForAVolume() {
    for (String name : List.of("pvmove", "a_mlog", "snapshot", "../ü")) {
      driver.delete(driver.create(name, 0, QUICK));
    }
  }

  @Test
  void whatAnEarlierVolumeHeldDoesNotComeBack() {
    Volume earlier = driver.create("earlier", 64 * MIB, QUICK);
    guest.run("echo old > %s/file".formatted(driver.mount(earlier, "ext4")));
    driver.unmount(earlier);
    driver.delete(earlier);

    Volume later = driver.create("later", 64 * MIB, QUICK);

    assertThat(contentOf(driver.mount(later, "ext4"))).isEmpty();
    driver.unmount(later);
    driver.delete(later);
  }

  @Test
  void ephemeralVolumesComeAndGoWithTheirPod() throws Exception {
    List<Future<?>> pods = new ArrayList<>();
    try (ExecutorService workers = Executors.newFixedThreadPool(2)) {
      for (boolean flag : new boolean[] {true, false}) {
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
      String folder =
          driver.publishEphemeral(handle, type, type.equals("xfs") ? "320Mi" : "32Mi", flag);
      assertThat(driver.hasDax(folder)).as(handle).isTrue();
      assertThat(contentOf(folder)).as(handle).isEmpty();
      guest.run("echo scratch > %s/file".formatted(folder));
      driver.unpublish(handle, folder);
    }
  }

  private String contentOf(String folder) {
    return guest.run("ls %s | grep -vE 'lost|probe' || true".formatted(folder));
  }

  @Test
  void volumesForPlainFilesHaveNoDax() {
    Volume volume = driver.create("files", 32 * MIB, Map.of("usage", "FileIO"));
    assertThat(driver.hasDax(driver.mount(volume, "ext4"))).isFalse();
    driver.unmount(volume);
    driver.delete(volume);
  }

  @Test
  void manyVolumesAtOnceDoNotDisturbEachOther() throws Exception {
    List<Future<?>> lives = new ArrayList<>();
    try (ExecutorService workers = Executors.newFixedThreadPool(10)) {
      IntStream.range(0, stressVolumes)
          .forEach(i -> lives.add(workers.submit(() -> live("stress-" + i))));
    }
    for (Future<?> life : lives) {
      life.get();
    }
  }

  private void live(String name) {
    Volume volume = driver.create(name, 15 * MIB, Map.of());
    String folder = driver.mount(volume, "ext4");
    guest.run("echo %s > %s/file".formatted(name, folder));
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
