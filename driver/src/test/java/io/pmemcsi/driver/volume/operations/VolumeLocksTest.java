package io.pmemcsi.driver.volume.operations;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Cancellation;
import io.pmemcsi.driver.volume.VolumeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class VolumeLocksTest {

  private static final VolumeId ONE = new VolumeId("one");
  private static final VolumeId TWO = new VolumeId("two");

  private final VolumeLocks locks = new VolumeLocks();

  @Test
  void callsForOneVolumeNeverInterleave() throws InterruptedException {
    AtomicInteger inside = new AtomicInteger();
    AtomicBoolean together = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      threads.add(
          Thread.ofVirtual()
              .start(
                  () ->
                      locks.with(
                          ONE,
                          () -> {
                            if (inside.incrementAndGet() > 1) {
                              together.set(true);
                            }
                            LockSupport.parkNanos(1000);
                            return inside.decrementAndGet();
                          })));
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(together).isFalse();
    assertThat(locks.size()).isZero();
  }

  @Test
  void callsForDifferentVolumesDoNotWaitForEachOther() throws InterruptedException {
    CountDownLatch both = new CountDownLatch(2);
    Runnable meet =
        () -> {
          both.countDown();
          try {
            assertThat(both.await(120, SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        };
    Thread other = Thread.ofVirtual().start(() -> locks.with(ONE, () -> run(meet)));

    locks.with(TWO, () -> run(meet));
    other.join();
  }

  @Test
  void aCallThatWasCancelledWhileItWaitedDoesNothing() throws InterruptedException {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Thread holder =
        Thread.ofVirtual()
            .start(
                () ->
                    locks.with(
                        ONE,
                        () -> {
                          held.countDown();
                          try {
                            return release.await(120, SECONDS);
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                        }));
    assertThat(held.await(120, SECONDS)).isTrue();
    Cancellation call = new Cancellation();
    AtomicBoolean done = new AtomicBoolean();
    Thread waiter =
        Thread.ofVirtual()
            .start(
                () ->
                    call.serve(
                        () ->
                            assertThatExceptionOfType(VolumeException.Cancelled.class)
                                .isThrownBy(
                                    () -> locks.with(ONE, () -> run(() -> done.set(true))))));

    call.cancel();
    release.countDown();
    holder.join();
    waiter.join();

    assertThat(done).isFalse();
    await().until(() -> locks.size() == 0);
  }

  private static boolean run(Runnable work) {
    work.run();
    return true;
  }
}
