package io.pmemcsi.driver.device;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DevicesTest {

  private static final Capacity BEFORE = new Capacity(2, 2, 2, 2);
  private static final Capacity AFTER = new Capacity(1, 1, 2, 2);

  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final AtomicInteger asked = new AtomicInteger();

  /** The first result is stale when it arrives. */
  private Capacity capacity() throws InterruptedException {
    if (asked.incrementAndGet() > 1) {
      return AFTER;
    }
    begun.countDown();
    assertThat(released.await(120, SECONDS)).isTrue();
    return BEFORE;
  }

  private DeviceManager manager() {
    return (DeviceManager)
        Proxy.newProxyInstance(
            DeviceManager.class.getClassLoader(),
            new Class<?>[] {DeviceManager.class},
            (_, method, _) -> {
              assertThat(method.getName()).isIn("capacity", "pools");
              return method.getName().equals("pools") ? List.of() : capacity();
            });
  }

  @Test
  void aSlowMeasurementDoesNotReplaceOneThatBeganLater() throws Exception {
    DeviceManager manager = manager();
    Devices devices = new Devices(manager, _ -> manager, _ -> false);
    Thread slow = Thread.ofPlatform().start(devices::measure);
    assertThat(begun.await(120, SECONDS)).isTrue();

    devices.measure();
    released.countDown();
    slow.join();

    assertThat(devices.capacity()).isEqualTo(new Devices.Measured.Known(AFTER, List.of()));
  }
}
