package io.pmemcsi.bench.driver;

import csi.v1.GetCapacityRequest;
import io.pmemcsi.bench.Samples;
import io.pmemcsi.testbed.guest.GuestConfig;
import io.pmemcsi.testbed.guest.GuestProgram;
import io.pmemcsi.testbed.guest.PmemGuest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The driver in LVM mode on the emulated memory of a guest.
 *
 * <p>The processor of the guest is emulated, too, and a JVM suffers most from that: its own code
 * runs 15 to 20 times slower than on real hardware. So the driver is warmed up first, and what is
 * left of a difference to commands by hand is an upper bound. On a node the driver runs for weeks
 * and its code is compiled; here the same compiler takes what has run 20 times, not 200.
 */
record LvmGuest(PmemGuest guest, CsiClient csi) implements AutoCloseable {

  static final String STAGING = "/run/pods/staging";
  static final String TARGET = "/run/pods/target";

  private static final GuestConfig NODE = new GuestConfig(2, 2048, 1024, 2);
  private static final int CALLS = 1_000;
  private static final int MESSAGE_BYTES = 200;
  private static final String SOCKET = "/run/csi.sock";

  /** Boots the guest and starts the driver, which has served some calls when this returns. */
  static LvmGuest boot() throws Exception {
    PmemGuest guest = PmemGuest.boot(NODE, Path.of("bench", "target", "guest"));
    guest.initLabels();
    GuestProgram program = start(guest);
    CsiClient csi = CsiClient.onPort(guest.forwardUnix(SOCKET));
    while (!csi.answers()) {
      if (!program.isRunning()) {
        throw new IllegalStateException(
            "the driver has ended: " + guest.run("cat /run/driver.log"));
      }
      Thread.sleep(200);
    }
    for (int call = 0; call < CALLS; call++) {
      csi.controller().getCapacity(GetCapacityRequest.getDefaultInstance());
    }
    return new LvmGuest(guest, csi);
  }

  /** Runs a script that prints how many microseconds it took; returns seconds. */
  double seconds(String script) {
    return Long.parseLong(guest.run(script)) / 1e6;
  }

  /**
   * How long a message takes into the guest and back. By hand everything happens there, and so it
   * does where kubelet calls the driver: this is the price of the test bed.
   */
  double wayIntoTheGuest() throws Exception {
    GuestProgram echo = guest.start("echo", "socat UNIX-LISTEN:/run/echo.sock,fork PIPE");
    echo.awaitSocket("/run/echo.sock", Duration.ofMinutes(1));
    int port = guest.forwardUnix("/run/echo.sock");
    Samples times = new Samples();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      byte[] message = new byte[MESSAGE_BYTES];
      for (int round = 0; round < CALLS; round++) {
        times.time(
            () -> {
              socket.getOutputStream().write(message);
              socket.getInputStream().readNBytes(message.length);
            });
      }
    } finally {
      echo.kill();
    }
    return times.median();
  }

  /** The same launcher and program as on a node, with the guest's way to the JDK. */
  private static GuestProgram start(PmemGuest guest) throws IOException {
    Path installed = guest.program();
    copy(Path.of("bin/pmem-csi"), installed.resolve("bin/pmem-csi-driver"));
    Path program = Path.of("app/target");
    copy(program.resolve("pmem-csi.jar"), installed.resolve("lib/pmem-csi/pmem-csi.jar"));
    try (Stream<Path> libraries = Files.list(program.resolve("lib"))) {
      for (Path library : (Iterable<Path>) libraries::iterator) {
        copy(library, installed.resolve("lib/pmem-csi/lib").resolve(library.getFileName()));
      }
    }
    Path runtime = installed.resolve("lib/pmem-csi/runtime");
    Files.deleteIfExists(runtime);
    Files.createSymbolicLink(runtime, Path.of("/jdk"));
    guest.run("mkdir -p /run/pods /disk/state");
    return guest.start(
        "driver",
        """
        env PMEM_CSI_JAVA_OPTIONS=-XX:CompileThresholdScaling=0.1 \
        /program/bin/pmem-csi-driver -mode=node -deviceManager=lvm -nodeid=guest \
        -endpoint=unix://%s -statePath=/disk/state > /run/driver.log 2>&1\
        """
            .formatted(SOCKET));
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(Objects.requireNonNull(to.getParent()));
    Files.copy(from, to, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
  }

  @Override
  public void close() {
    csi.close();
    guest.close();
  }
}
