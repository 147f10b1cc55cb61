package io.pmemcsi.bench.driver;

import csi.v1.GetCapacityRequest;
import csi.v1.Volume;
import io.pmemcsi.bench.Benchmark;
import io.pmemcsi.bench.Figure;
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
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * A volume for a pod in LVM mode, beside the same commands typed by hand, on the emulated memory of
 * a guest.
 *
 * <p>The processor of the guest is emulated, too, and a JVM suffers most from that: its own code
 * runs 15 to 20 times slower than on real hardware. So the driver is warmed up first, and what is
 * left of the difference is an upper bound. On a node the driver runs for weeks and its code is
 * compiled; here the same compiler takes what has run 20 times, not 200.
 */
public final class LvmByHand implements Benchmark {

  private static final GuestConfig NODE = new GuestConfig(2, 2048, 1024, 2);
  private static final int WARM_UP = 40;
  private static final int CALLS = 1_000;
  private static final int ROUNDS = 15;
  private static final int LIVE_CALLS = 3;
  private static final int MESSAGE_BYTES = 200;
  private static final long SIZE = 256L << 20;
  private static final long SMALL = 16L << 20;
  private static final String SOCKET = "/run/csi.sock";
  private static final String STAGING = "/run/pods/staging";
  private static final String TARGET = "/run/pods/target";

  @Override
  public String name() {
    return "driver-lvm";
  }

  @Override
  public List<Figure> measure() throws Exception {
    Path directory = Path.of("bench", "target", "guest");
    try (PmemGuest guest = PmemGuest.boot(NODE, directory)) {
      guest.initLabels();
      GuestProgram program = start(guest);
      try (CsiClient csi = CsiClient.onPort(guest.forwardUnix(SOCKET))) {
        while (!csi.answers()) {
          if (!program.isRunning()) {
            throw new IllegalStateException(
                "the driver has ended: " + guest.run("cat /run/driver.log"));
          }
          Thread.sleep(200);
        }
        return measure(guest, csi);
      }
    }
  }

  private static List<Figure> measure(PmemGuest guest, CsiClient csi) throws Exception {
    Samples driver = new Samples();
    Samples hand = new Samples();
    for (int call = 0; call < CALLS; call++) {
      csi.controller().getCapacity(GetCapacityRequest.getDefaultInstance());
    }
    for (int round = 0; round < WARM_UP; round++) {
      live(csi, new Samples(), "warm-" + round, SMALL);
    }
    for (int round = 0; round < ROUNDS; round++) {
      live(csi, driver, "pvc-" + round, SIZE);
      hand.add(byHand(guest));
    }
    double way = LIVE_CALLS * wayIntoTheGuest(guest);
    System.out.printf(
        "  by CSI %.3f s, of which %.3f s on the way into the guest; by hand %.3f s%n",
        driver.median(), way, hand.median());
    return List.of(
        Figure.atMost(
            1.10,
            "LVM: create, stage, publish / lvcreate, mkfs, mount by hand",
            (driver.median() - way) / hand.median(),
            ""));
  }

  /**
   * How long a message takes into the guest and back. By hand everything happens there, and so it
   * does where kubelet calls the driver: this is the price of the test bed.
   */
  private static double wayIntoTheGuest(PmemGuest guest) throws Exception {
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

  /** What an administrator would type, and how many seconds of it are no cleaning up. */
  private static double byHand(PmemGuest guest) {
    String microseconds =
        guest.run(
            """
            set -e
            dev=/dev/ndbus0region0fsdax/hand
            start=$EPOCHREALTIME
            lvcreate --quiet --yes --size=%db --name=hand ndbus0region0fsdax > /dev/null
            mkfs.ext4 -q -b 4096 -E stride=512,stripe_width=512 -F $dev
            mkdir -p /run/pods/hand /run/pods/hand-pod
            mount -o dax=always $dev /run/pods/hand
            mount --bind /run/pods/hand /run/pods/hand-pod
            end=$EPOCHREALTIME
            umount /run/pods/hand-pod /run/pods/hand
            dd if=/dev/zero of=$dev bs=8M oflag=direct 2> /dev/null || true
            lvremove --quiet --force --yes ndbus0region0fsdax/hand > /dev/null
            echo $((${end/./} - ${start/./}))
            """
                .formatted(SIZE));
    return Long.parseLong(microseconds) / 1e6;
  }

  private static void live(CsiClient csi, Samples times, String name, long size) throws Exception {
    times.time(
        () -> {
          Volume volume = csi.create(name, size);
          csi.stage(volume, STAGING);
          csi.publish(volume, STAGING, TARGET);
        });
    Volume volume = csi.create(name, size);
    csi.unpublish(volume, TARGET);
    csi.unstage(volume, STAGING);
    csi.delete(volume);
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
}
