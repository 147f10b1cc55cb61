package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.CrashingDriver;
import io.pmemcsi.driver.CrashingDriver.When;
import io.pmemcsi.testbed.guest.PmemGuest;
import io.pmemcsi.testbed.guest.WithPmemGuest;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The driver crashes at a command, a ledger write or a mount in the lifecycle of a volume on PMEM,
 * restarts, gets the same call again, and the result is the same as without a crash. A campaign
 * tries all steps, other runs a few that the seed selects.
 */
@WithPmemGuest
class CrashInGuestIT {
  private static final long SEED = Long.getLong("pmem-csi.kill.seed", 5);
  private static final int SAMPLES = 1;

  /** Selects crash points, for example {@code 7 MIDDLE,12 AFTER}. */
  private static final List<String> CHOSEN =
      Stream.of(System.getProperty("pmem-csi.crash.orders", "").split(",", -1))
          .filter(order -> !order.isBlank())
          .toList();

  private static final long MIB = 1L << 20;
  private static final String NAME = "pvc-crash";

  private final PmemGuest guest;
  private final SplittableRandom random = new SplittableRandom(SEED);

  CrashInGuestIT(PmemGuest guest) {
    this.guest = guest;
  }

  /** One call of the lifecycle, or a check of the data between two calls. */
  private interface Step {
    void run(GuestDriver driver);
  }

  @AfterEach
  void cleanUp() {
    guest.run("rm -f " + CrashingDriver.ORDER);
    GuestDriver.cleanUp(guest);
  }

  private static Volume volume(GuestDriver driver) {
    return driver.create(NAME, 32 * MIB, Map.of());
  }

  private List<Step> lifecycle(String mode) {
    List<Step> lifecycle = new ArrayList<>();
    lifecycle.add(CrashInGuestIT::volume);
    lifecycle.add(driver -> driver.mount(volume(driver), "ext4"));
    lifecycle.add(
        driver -> guest.run("echo precious > %s/file; sync".formatted(directory(driver))));
    if (mode.equals("lvm")) {
      lifecycle.add(driver -> driver.expand(volume(driver), 64 * MIB, directory(driver)));
    }
    lifecycle.add(
        driver ->
            assertThat(guest.run("cat %s/file".formatted(directory(driver))))
                .isEqualTo("precious"));
    lifecycle.add(driver -> driver.unmount(volume(driver)));
    lifecycle.add(driver -> driver.delete(NAME));
    return lifecycle;
  }

  /** A snapshot of a mounted volume, a volume from it, and a clone. */
  private List<Step> copies() {
    return List.of(
        driver -> driver.mount(volume(driver), "ext4"),
        driver -> write(driver, "precious"),
        driver -> driver.snapshot("snap", volume(driver)),
        // hangs if the filesystem is still frozen
        driver -> write(driver, "changed"),
        driver -> assertHolds(driver, restored(driver), "precious"),
        driver -> driver.unmount(restored(driver)),
        driver -> driver.delete("restored"),
        driver -> assertHolds(driver, cloned(driver), "changed"),
        driver -> driver.unmount(cloned(driver)),
        driver -> driver.delete("cloned"),
        driver -> driver.delete(driver.snapshot("snap", volume(driver))),
        driver -> driver.unmount(volume(driver)),
        driver -> driver.delete(NAME));
  }

  private static Volume restored(GuestDriver driver) {
    return driver.restore("restored", driver.snapshot("snap", volume(driver)), Map.of());
  }

  private static Volume cloned(GuestDriver driver) {
    return driver.clone("cloned", volume(driver), Map.of());
  }

  private void write(GuestDriver driver, String text) {
    guest.run("echo %s > %s/file; sync".formatted(text, directory(driver)));
  }

  private void assertHolds(GuestDriver driver, Volume copy, String text) {
    assertThat(guest.run("cat %s/file".formatted(driver.mount(copy, "ext4")))).isEqualTo(text);
  }

  private static String directory(GuestDriver driver) {
    return GuestDriver.PODS + "target-" + volume(driver).getVolumeId();
  }

  @ParameterizedTest
  @ValueSource(strings = {"lvm", "direct"})
  void theVolumeLifecycleContinuesAfterACrash(String mode) {
    assumeTrue(
        DriverInGuest.CAMPAIGN || !CHOSEN.isEmpty() || mode.equals("lvm"),
        "each step takes two starts of the driver: direct mode is tried by make campaign");
    GuestDriver.cleanUp(guest);
    crash(
        mode,
        mode.equals("lvm") ? startAfterCrash(some(12).getFirst()) : start(mode, 50),
        lifecycle(mode),
        // every lifecycle has at least this many steps
        orders(60, 12));
  }

  @ParameterizedTest
  @ValueSource(strings = {"lvm", "direct"})
  void copiesOfAVolumeAreFinishedAfterACrash(String mode) {
    GuestDriver.cleanUp(guest);
    crash(mode, start(mode, 50), copies(), orders(70, 40));
  }

  private void crash(String mode, GuestDriver first, List<Step> lifecycle, List<String> orders) {
    int crashes = 0;
    GuestDriver driver = first;
    try {
      for (String order : orders) {
        int done = runUntilCrash(driver, lifecycle, order);
        if (done < lifecycle.size()) {
          crashes++;
          driver.disconnect();
          driver = start(mode, 50);
          resume(driver, lifecycle.subList(done, lifecycle.size()), order);
        }
        driver.assertNothingLeft();
      }
    } finally {
      driver.close();
    }
    assertThat(crashes).as("crashes").isGreaterThanOrEqualTo(SAMPLES);
  }

  private List<String> orders(int all, int sampled) {
    if (!CHOSEN.isEmpty()) {
      return CHOSEN;
    }
    return DriverInGuest.CAMPAIGN ? every(all) : some(sampled);
  }

  private void resume(GuestDriver driver, List<Step> rest, String order) {
    try {
      assertThat(driver.findings())
          .doesNotContain("DEVICE_WITHOUT_RECORD", "RECORD_WITHOUT_DEVICE", "DAMAGED_RECORD");
      rest.forEach(step -> step.run(driver));
      driver.assertNothingLeft();
    } catch (StatusRuntimeException | AssertionError e) {
      throw new AssertionError(
          "-Dpmem-csi.crash.orders='%s': crashed at %s: %s"
              .formatted(order, lastStep(), e.getMessage()),
          e);
    }
  }

  @Test
  void theNextStartFinishesAnInterruptedSetup() {
    assumeTrue(
        DriverInGuest.CAMPAIGN,
        "the lifecycle test covers one such start: make campaign tries all others");
    for (String order : every(12)) {
      GuestDriver.cleanUp(guest);
      startAfterCrash(order).close();
    }
  }

  /** A start sets up memory; if it crashes, the next start finishes the setup. */
  private GuestDriver startAfterCrash(String order) {
    guest.run("mkdir -p %s; echo %s > %s".formatted(GuestDriver.PODS, order, CrashingDriver.ORDER));
    assertThat(guest.exec(commandLine("lvm", 50), GuestDriver.TIMEOUT).exitCode())
        .as(order)
        .isEqualTo(137);
    GuestDriver next = start("lvm", 50);
    assertThat(next.capacity().getAvailableCapacity())
        .as(lastStep())
        .isBetween(2048 * MIB * 95 / 100, 2048 * MIB);
    next.assertNothingLeft();
    return next;
  }

  /** Returns how many steps of the lifecycle were done when the driver crashed. */
  private int runUntilCrash(GuestDriver driver, List<Step> lifecycle, String order) {
    guest.run("echo %s > %s".formatted(order, CrashingDriver.ORDER));
    int done = 0;
    try {
      for (Step step : lifecycle) {
        step.run(driver);
        done++;
      }
      guest.run("rm -f " + CrashingDriver.ORDER);
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).as(e.getMessage()).isEqualTo(Status.Code.UNAVAILABLE);
    }
    return done;
  }

  private List<String> every(int steps) {
    return Stream.of(When.values())
        .flatMap(when -> Stream.iterate(1, n -> n <= steps, n -> n + 1).map(n -> n + " " + when))
        .toList();
  }

  private List<String> some(int steps) {
    List<When> whens = List.of(When.values());
    return Stream.generate(
            () -> random.nextInt(1, steps + 1) + " " + whens.get(random.nextInt(whens.size())))
        .limit(SAMPLES)
        .toList();
  }

  private String lastStep() {
    return guest.run("cat %s || true".formatted(CrashingDriver.LAST_STEP));
  }

  private GuestDriver start(String mode, int percentage) {
    return GuestDriver.start(guest, commandLine(mode, percentage));
  }

  private String commandLine(String mode, int percentage) {
    PackagedProgram.install(guest);
    copyClasses();
    return "/jdk/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+UseCompactObjectHeaders"
        + " -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -XX:-AOTAdapterCaching"
        + " -XX:-AOTStubCaching -XX:ReservedCodeCacheSize=32m "
        + PackagedProgram.JAVA_OPTIONS
        + " -Xlog:aot=off -Xlog:cds=off -XX:AOTCache=%s/aot/node.aot"
            .formatted(PackagedProgram.HOME)
        + " --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"
        + " -cp %1$s/pmem-csi.jar:%1$s/classes %2$s"
            .formatted(PackagedProgram.HOME, CrashingDriver.class.getName())
        + " %s %d %s /disk/state".formatted(mode, percentage, GuestDriver.SOCKET);
  }

  /**
   * Copies the classes of the crashing driver next to the packaged program, which provides all
   * others: the JVM uses its AOT cache only if the class path has the same common prefix.
   */
  private void copyClasses() {
    Path to = guest.program().resolve("lib/pmem-csi/classes/io/pmemcsi/driver");
    try {
      Path from =
          Path.of(CrashingDriver.class.getProtectionDomain().getCodeSource().getLocation().toURI())
              .resolve("io/pmemcsi/driver");
      Files.createDirectories(to);
      try (Stream<Path> classes = Files.list(from)) {
        for (Path file : (Iterable<Path>) classes.filter(Files::isRegularFile)::iterator) {
          Files.write(to.resolve(file.getFileName()), Files.readAllBytes(file));
        }
      }
    } catch (IOException | URISyntaxException e) {
      throw new IllegalStateException("cannot copy the crashing driver", e);
    }
  }
}
