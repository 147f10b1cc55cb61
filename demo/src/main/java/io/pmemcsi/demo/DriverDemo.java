package io.pmemcsi.demo;

import csi.v1.GetCapacityRequest;
import csi.v1.GetPluginInfoRequest;
import csi.v1.GetPluginInfoResponse;
import csi.v1.ListVolumesRequest;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.DriverSettings;
import io.pmemcsi.driver.NodeDriver;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The real driver on file-backed devices, with one volume from its creation to its deletion. */
final class DriverDemo {

  private static final List<String> TOOLS = List.of("mkfs.ext4", "losetup", "blkid");
  private static final String CAPABILITIES = "CapEff:";
  private static final long SYS_ADMIN = 1L << 21;
  private static final List<String> DIRECTORIES =
      List.of("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin");

  private final Narrator narrator;
  private final Interruption interruption;

  DriverDemo(Narrator narrator, Interruption interruption) {
    this.narrator = narrator;
    this.interruption = interruption;
  }

  void run() {
    narrator.heading("2. The driver, on file-backed devices");
    Optional<String> blocker = blocker();
    if (blocker.isPresent()) {
      narrator.say(
          ("LEFT OUT: %s. The driver creates and mounts real file systems: run the demo as root on a"
                  + " machine with loop devices to see it.")
              .formatted(blocker.get()));
      return;
    }
    try (DemoDirectory directory = DemoDirectory.create()) {
      drive(directory.path());
    } catch (StatusRuntimeException e) {
      throw new FatalException("the driver refused a call of the demo: " + e.getMessage(), e);
    }
  }

  /** Settings of a driver that keeps everything in one directory. */
  static DriverSettings settings(Path directory) {
    return new DriverSettings(
        new DriverName("pmem-csi.intel.com"),
        "demo-node",
        new Endpoint(directory.resolve("csi.sock")),
        directory.resolve("state"),
        DeviceMode.FILE,
        50,
        Optional.empty(),
        "/metrics");
  }

  private void drive(Path directory) {
    DriverSettings settings = settings(directory);
    long start = System.nanoTime();
    try (NodeDriver _ = NodeDriver.start(settings);
        CsiClient client = new CsiClient(settings.endpoint().socket())) {
      GetPluginInfoResponse info =
          client.identity().getPluginInfo(GetPluginInfoRequest.getDefaultInstance());
      narrator.say(
          "%s %s answers on %s, %s after its start; memory is simulated by sparse files."
              .formatted(
                  info.getName(),
                  info.getVendorVersion(),
                  settings.endpoint(),
                  Narrator.seconds(Duration.ofNanos(System.nanoTime() - start))));
      try (VolumeLife life = new VolumeLife(client, directory, narrator, interruption)) {
        life.live();
      }
      int left =
          client
              .controller()
              .listVolumes(ListVolumesRequest.getDefaultInstance())
              .getEntriesCount();
      if (left > 0) {
        throw new FatalException("the demo left %d volumes behind".formatted(left));
      }
    }
  }

  static long available(CsiClient client) {
    return client
        .controller()
        .getCapacity(GetCapacityRequest.getDefaultInstance())
        .getAvailableCapacity();
  }

  /** Why this machine cannot run the driver, if it cannot. */
  static Optional<String> blocker() {
    try {
      List<String> status = Files.readAllLines(Path.of("/proc/self/status"));
      if (status.stream().noneMatch(line -> line.matches("Uid:\\s+\\d+\\s+0\\s.*"))) {
        return Optional.of("this process is not root");
      }
      if (status.stream().noneMatch(DriverDemo::allowsMounts)) {
        return Optional.of(
            "root may not mount here (it lacks CAP_SYS_ADMIN, as in most containers)");
      }
    } catch (IOException e) {
      return Optional.of("this is not a Linux with /proc");
    }
    if (!Files.exists(Path.of("/dev/loop-control"))) {
      return Optional.of("this machine has no loop devices (no /dev/loop-control)");
    }
    return TOOLS.stream()
        .filter(tool -> DIRECTORIES.stream().noneMatch(at -> Files.isExecutable(Path.of(at, tool))))
        .findFirst()
        .map(tool -> "this machine has no %s (build/tools installs it)".formatted(tool));
  }

  private static boolean allowsMounts(String line) {
    return line.startsWith(CAPABILITIES)
        && (Long.parseUnsignedLong(line.substring(CAPABILITIES.length()).strip(), 16) & SYS_ADMIN)
            != 0;
  }
}
