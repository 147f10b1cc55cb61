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

  final PmemGuest guest;
  final String mode;
  private final int stressVolumes;
  private GuestDriver driver;

  DriverInGuest(PmemGuest guest, String mode, int stressVolumes) {
    this.guest = guest;
    this.mode = mode;
    this.stressVolumes = stressVolumes;
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
  void volumes_have_dax_and_survive_a_power_cut_although_one_is_mounted() {
    long before = driver.capacity().getAvailableCapacity();
    Volume ext4 = driver.create("ext4", 64 * MIB, Map.of());
    Volume xfs = driver.create("xfs", 320 * MIB, Map.of("eraseafter", "false"));
    Map<Volume, String> types = Map.of(ext4, "ext4", xfs, "xfs");
    for (Map.Entry<Volume, String> entry : types.entrySet()) {
      Volume volume = entry.getKey();
      String folder = driver.mount(volume, entry.getValue());
      assertThat(driver.hasDax(folder)).as(folder).isTrue();
      guest.run("echo precious > %s/file; sync".formatted(folder));
    }
    assertRefused(Status.Code.FAILED_PRECONDITION, () -> driver.delete(ext4));

    driver.unmount(xfs);

    guest.powerCut();
    start(80);
    assertThat(driver.list()).containsExactlyInAnyOrder(ext4.getVolumeId(), xfs.getVolumeId());
    for (Map.Entry<Volume, String> entry : types.entrySet()) {
      Volume volume = entry.getKey();
      String folder = driver.mount(volume, entry.getValue());
      assertThat(guest.run("cat %s/file".formatted(folder))).isEqualTo("precious");
      assertThat(driver.hasDax(folder)).as(folder).isTrue();
      driver.unmount(volume);
      driver.delete(volume);
      driver.delete(volume);
    }
    assertThat(driver.capacity().getAvailableCapacity()).isEqualTo(afterRaise(before));
  }

  @Test
  void no_size_gives_the_smallest_volume_and_too_much_is_refused() {
    Volume smallest = driver.create("smallest", 0, Map.of());
    assertThat(smallest.getCapacityBytes()).isBetween(1L, 32 * MIB);

    assertRefused(
        Status.Code.RESOURCE_EXHAUSTED, () -> driver.create("too large", 1L << 50, Map.of()));
    assertRefused(Status.Code.NOT_FOUND, () -> driver.unstage("unknown"));
    assertThat(driver.list()).containsExactly(smallest.getVolumeId());
    driver.delete(smallest);
  }

  @Test
  void ephemeral_volumes_come_and_go_with_their_pod() {
    for (String type : List.of("", "xfs")) {
      String folder = driver.publishEphemeral("csi-inline", type, "320Mi");
      assertThat(driver.hasDax(folder)).isTrue();
      assertThat(guest.run("ls %s | grep -vE 'lost|probe' || true".formatted(folder))).isEmpty();
      guest.run("echo scratch > %s/file".formatted(folder));
      driver.unpublish("csi-inline", folder);
      driver.assertNothingLeft();
    }
  }

  @Test
  void volumes_for_plain_files_have_no_dax() {
    Volume volume = driver.create("files", 64 * MIB, Map.of("usage", "FileIO"));
    assertThat(driver.hasDax(driver.mount(volume, "ext4"))).isFalse();
    driver.unmount(volume);
    driver.delete(volume);
  }

  @Test
  void many_volumes_at_once_do_not_disturb_each_other() throws Exception {
    List<Future<?>> lives = new ArrayList<>();
    try (ExecutorService workers = Executors.newFixedThreadPool(4)) {
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
