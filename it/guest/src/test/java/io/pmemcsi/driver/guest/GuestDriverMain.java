package io.pmemcsi.driver.guest;

import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.DriverSettings;
import io.pmemcsi.driver.NodeDriver;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.volume.DeviceMode;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** Runs in the guest: the real driver, with its state on the guest's disk. */
final class GuestDriverMain {
  static final String SOCKET = "/run/csi.sock";
  static final String STATE = "/disk/state";

  private GuestDriverMain() {}

  public static void main(String[] args) throws InterruptedException {
    DriverSettings settings =
        new DriverSettings(
            new DriverName("pmem-csi.intel.com"),
            "guest",
            new Endpoint(Path.of(SOCKET)),
            Path.of(STATE),
            DeviceMode.parse(args[0]).orElseThrow(),
            Integer.parseInt(args[1]),
            Optional.empty(),
            "/metrics");
    try (NodeDriver driver = NodeDriver.start(settings)) {
      System.out.println("findings at start: " + driver.startAudit().findings());
      new CountDownLatch(1).await();
    }
  }
}
