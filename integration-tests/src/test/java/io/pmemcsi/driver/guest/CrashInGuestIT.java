package io.pmemcsi.driver.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import csi.v1.Volume;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.DyingDriver;
import io.pmemcsi.driver.DyingDriver.When;
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
 * The driver dies at a command, a ledger write or a mount in the life of a volume on real memory,
 * is started again, gets the same call again, and everything ends as if nothing had happened. A
 * campaign tries all steps, a usual run a few that the seed chooses.
 */
@WithPmemGuest
class CrashInGuestIT {
  private static final long SEED = Long.getLong("pmem-csi.kill.seed", 5);
  private static final int SAMPLES = 1;

  /** To try some again, for example {@code 7 MIDDLE,12 AFTER}. */
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

  /** One call of the story, or a look at the data between two calls. */
  private interface Step {
    void run(GuestDriver driver);
  }

  @AfterEach
  void cleanUp() {
    guest.run("rm -f " + DyingDriver.ORDER);
    GuestDriver.cleanUp(guest);
  }

  private static Volume volume(GuestDriver driver) {
    return driver.create(NAME, 32 * MIB, Map.of());
  }

  private List<Step> story(String mode) {
    List<Step> story = new ArrayList<>();
    story.add(CrashInGuestIT::volume);
    story.add(driver -> driver.mount(volume(driver), "ext4"));
    story.add(driver -> guest.run("echo precious > %s/file; sync".formatted(folder(driver))));
    if (mode.equals("lvm")) {
      story.add(driver -> driver.grow(volume(driver), 64 * MIB, folder(driver)));
    }
    story.add(
        driver ->
            assertThat(guest.run("cat %s/file".formatted(folder(driver)))).isEqualTo("precious"));
    story.add(driver -> driver.unmount(volume(driver)));
    story.add(driver -> driver.delete(NAME));
    return story;
  }

  private static String folder(GuestDriver driver) {
    return GuestDriver.PODS + "target-" + volume(driver).getVolumeId();
  }

  @ParameterizedTest
  @ValueSource(strings = {"lvm", "direct"})
  void theLifeOfAVolumeGoesOn(String mode) {
    assumeTrue(
        DriverInGuest.CAMPAIGN || !CHOSEN.isEmpty() || mode.equals("lvm"),
        "each step takes two starts of the driver: direct mode is tried by make campaign");
    List<Step> story = story(mode);
    int deaths = 0;
    GuestDriver.cleanUp(guest);
    GuestDriver driver =
        mode.equals("lvm") ? startAfterOneThatDied(some(12).getFirst()) : start(mode, 50);
    try {
      for (String order : orders()) {
        int done = liveUntilItDies(driver, story, order);
        if (done < story.size()) {
          deaths++;
          driver.disconnect();
          driver = start(mode, 50);
          goOn(driver, story.subList(done, story.size()), order);
        }
        driver.assertNothingLeft();
      }
    } finally {
      driver.close();
    }
    assertThat(deaths).as("deaths").isGreaterThanOrEqualTo(SAMPLES);
  }

  private List<String> orders() {
    if (!CHOSEN.isEmpty()) {
      return CHOSEN;
    }
    // so many steps every story has for sure
    return DriverInGuest.CAMPAIGN ? every(60) : some(12);
  }

  private void goOn(GuestDriver driver, List<Step> rest, String order) {
    try {
      assertThat(driver.findings())
          .doesNotContain("DEVICE_WITHOUT_RECORD", "RECORD_WITHOUT_DEVICE", "DAMAGED_RECORD");
      rest.forEach(step -> step.run(driver));
      driver.assertNothingLeft();
    } catch (StatusRuntimeException | AssertionError e) {
      throw new AssertionError(
          "-Dpmem-csi.crash.orders='%s': died at %s: %s".formatted(order, words(), e.getMessage()),
          e);
    }
  }

  @Test
  void everyStartThatSetsUpMemoryGoesOn() {
    assumeTrue(
        DriverInGuest.CAMPAIGN,
        "the life of a volume begins with one such start: all others are tried by make campaign");
    for (String order : every(12)) {
      GuestDriver.cleanUp(guest);
      startAfterOneThatDied(order).close();
    }
  }

  /** Memory is set up at a start: one that is killed there is made good by the next one. */
  private GuestDriver startAfterOneThatDied(String order) {
    guest.run("mkdir -p %s; echo %s > %s".formatted(GuestDriver.PODS, order, DyingDriver.ORDER));
    assertThat(guest.exec(commandLine("lvm", 50), GuestDriver.PATIENCE).exitCode())
        .as(order)
        .isEqualTo(137);
    GuestDriver next = start("lvm", 50);
    assertThat(next.capacity().getAvailableCapacity())
        .as(words())
        .isBetween(2048 * MIB * 95 / 100, 2048 * MIB);
    next.assertNothingLeft();
    return next;
  }

  /** Returns how many steps of the story were done when the driver died. */
  private int liveUntilItDies(GuestDriver driver, List<Step> story, String order) {
    guest.run("echo %s > %s".formatted(order, DyingDriver.ORDER));
    int done = 0;
    try {
      for (Step step : story) {
        step.run(driver);
        done++;
      }
      guest.run("rm -f " + DyingDriver.ORDER);
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

  private String words() {
    return guest.run("cat %s || true".formatted(DyingDriver.LAST_WORDS));
  }

  private GuestDriver start(String mode, int percentage) {
    return GuestDriver.start(guest, commandLine(mode, percentage));
  }

  private String commandLine(String mode, int percentage) {
    PackedProgram.install(guest);
    copyClasses();
    return "/jdk/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+UseCompactObjectHeaders"
        + " -XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0 -XX:-AOTAdapterCaching"
        + " -XX:-AOTStubCaching -XX:ReservedCodeCacheSize=32m "
        + PackedProgram.JAVA_OPTIONS
        + " -Xlog:aot=off -Xlog:cds=off -XX:AOTCache=%s/aot/node.aot".formatted(PackedProgram.HOME)
        + " --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow"
        + " -cp %1$s/pmem-csi.jar:%1$s/classes %2$s"
            .formatted(PackedProgram.HOME, DyingDriver.class.getName())
        + " %s %d %s /disk/state".formatted(mode, percentage, GuestDriver.SOCKET);
  }

  /**
   * The classes of the program that dies; all others are those of the packed one. They lie beside
   * it: the JVM does not take its cache of classes where all of the class path has less of a path
   * in common than that of the cache.
   */
  private void copyClasses() {
    Path to = guest.program().resolve("lib/pmem-csi/classes/io/pmemcsi/driver");
    try {
      Path from =
          Path.of(DyingDriver.class.getProtectionDomain().getCodeSource().getLocation().toURI())
              .resolve("io/pmemcsi/driver");
      Files.createDirectories(to);
      try (Stream<Path> classes = Files.list(from)) {
        for (Path file : (Iterable<Path>) classes.filter(Files::isRegularFile)::iterator) {
          Files.write(to.resolve(file.getFileName()), Files.readAllBytes(file));
        }
      }
    } catch (IOException | URISyntaxException e) {
      throw new IllegalStateException("cannot copy the program that dies", e);
    }
  }
}
