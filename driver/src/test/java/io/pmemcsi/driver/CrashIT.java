package io.pmemcsi.driver;

import static io.pmemcsi.driver.Calls.MIB;
import static io.pmemcsi.driver.Calls.block;
import static io.pmemcsi.driver.Calls.mount;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import csi.v1.Snapshot;
import csi.v1.Volume;
import csi.v1.VolumeContentSource;
import io.grpc.StatusRuntimeException;
import io.pmemcsi.driver.audit.AuditReport;
import io.pmemcsi.driver.device.VolumeId;
import io.pmemcsi.driver.linux.exec.Command;
import io.pmemcsi.driver.linux.exec.CommandRunner;
import io.pmemcsi.driver.linux.exec.ProcessRunner;
import io.pmemcsi.driver.state.DurableFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The driver crashes at every command and at every write of a state file in the lifecycle of a
 * volume, restarts, gets the same call again, and the result is the same as without a crash.
 */
@Timeout(600)
class CrashIT {

  /** One call of a lifecycle, or a check of the data between two calls. */
  private interface Step {
    void run(Calls csi, Scratch scratch) throws IOException;
  }

  private static final boolean CAMPAIGN = Boolean.getBoolean("pmem-csi.campaign");
  private static final long SEED = Long.getLong("pmem-csi.kill.seed", 5);
  private static final Path STAGING = Path.of("staging");
  private static final Path TARGET = Path.of("target");

  @BeforeAll
  static void silenceExpectedErrors() {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, error) -> {
          if (!(error instanceof Crash.Died) && before != null) {
            before.uncaughtException(thread, error);
          }
        });
  }

  private static Path at(Scratch scratch, Path name) {
    return scratch.pod(name.toString());
  }

  private static Volume volume(Calls csi, Map<String, String> parameters) {
    return volume(csi, parameters, 16);
  }

  private static Volume volume(Calls csi, Map<String, String> parameters, long mib) {
    return csi.create(Calls.request("pvc-crash", mib * MIB).putAllParameters(parameters));
  }

  private static List<Step> mounted(Map<String, String> parameters, String type, long mib) {
    Step stage =
        (csi, s) -> csi.stage(volume(csi, parameters, mib), at(s, STAGING), mount(type, "noatime"));
    Step publish =
        (csi, s) ->
            csi.publish(
                volume(csi, parameters, mib),
                at(s, STAGING),
                at(s, TARGET),
                mount(type, "noatime"));
    Step publishReadOnly =
        (csi, s) ->
            csi.publish(
                Calls.publication(
                        volume(csi, parameters, mib),
                        at(s, STAGING),
                        at(s, TARGET),
                        mount(type, "noatime"))
                    .setReadonly(true));
    Step unpublish =
        (csi, s) -> csi.unpublish(volume(csi, parameters, mib).getVolumeId(), at(s, TARGET));
    Step unstage =
        (csi, s) -> csi.unstage(volume(csi, parameters, mib).getVolumeId(), at(s, STAGING));
    return List.of(
        (csi, _) -> volume(csi, parameters, mib),
        stage,
        publish,
        (_, s) -> Files.writeString(at(s, TARGET).resolve("data"), "precious"),
        unpublish,
        unstage,
        stage,
        publishReadOnly,
        (_, s) -> assertThat(at(s, TARGET).resolve("data")).hasContent("precious"),
        unpublish,
        unstage,
        (csi, _) -> csi.deleteByName("pvc-crash"));
  }

  private static List<Step> raw() {
    return List.of(
        (csi, s) -> csi.stage(volume(csi, Map.of()), at(s, STAGING), block()),
        (csi, s) -> csi.publish(volume(csi, Map.of()), at(s, STAGING), at(s, TARGET), block()),
        (_, s) -> Files.writeString(at(s, TARGET), "precious", StandardOpenOption.WRITE),
        (csi, s) -> csi.expand(volume(csi, Map.of()).getVolumeId(), at(s, TARGET), 32 * MIB),
        (csi, s) -> csi.unpublish(volume(csi, Map.of()).getVolumeId(), at(s, TARGET)),
        (csi, s) -> csi.publish(volume(csi, Map.of()), at(s, STAGING), at(s, TARGET), block()),
        (_, s) -> {
          try (var in = Files.newInputStream(at(s, TARGET))) {
            assertThat(new String(in.readNBytes(8), StandardCharsets.UTF_8)).isEqualTo("precious");
          }
        },
        (csi, s) -> csi.unpublish(volume(csi, Map.of()).getVolumeId(), at(s, TARGET)),
        (csi, s) -> csi.unstage(volume(csi, Map.of()).getVolumeId(), at(s, STAGING)),
        (csi, _) -> csi.deleteByName("pvc-crash"));
  }

  private static final String SNAPSHOT_ID = VolumeId.fromName("snapshot/snap-crash").value();

  private static Snapshot snapshot(Calls csi) {
    return csi.snapshot("snap-crash", VolumeId.fromName("pvc-crash").value());
  }

  private static Volume restored(Calls csi, long mib) {
    return csi.create(
        Calls.request("pvc-restored", mib * MIB)
            .setVolumeContentSource(
                VolumeContentSource.newBuilder()
                    .setSnapshot(
                        VolumeContentSource.SnapshotSource.newBuilder()
                            .setSnapshotId(SNAPSHOT_ID))));
  }

  /**
   * A snapshot of a mounted volume, restored while that one is in use.
   *
   * @param more how much larger the restored volume is; ext4 is expanded only by privileged users
   */
  private static List<Step> copied(String type, long mib, long more) {
    return List.of(
        (csi, s) -> csi.stage(volume(csi, Map.of(), mib), at(s, STAGING), mount(type)),
        (_, s) -> Files.writeString(at(s, STAGING).resolve("data"), "precious"),
        (csi, _) -> snapshot(csi),
        // hangs if the filesystem is still frozen
        (_, s) -> Files.writeString(at(s, STAGING).resolve("data"), "changed"),
        (csi, _) -> restored(csi, mib + more),
        (csi, s) -> csi.stage(restored(csi, mib + more), at(s, TARGET), mount(type)),
        (_, s) ->
            assertThat(at(s, TARGET).toFile().getTotalSpace())
                .isGreaterThanOrEqualTo(
                    at(s, STAGING).toFile().getTotalSpace() + more * MIB * 3 / 4),
        (_, s) -> assertThat(at(s, TARGET).resolve("data")).hasContent("precious"),
        (_, s) -> assertThat(at(s, STAGING).resolve("data")).hasContent("changed"),
        (csi, s) -> csi.unstage(restored(csi, mib + more).getVolumeId(), at(s, TARGET)),
        (csi, _) -> csi.deleteByName("pvc-restored"),
        (csi, _) -> csi.deleteSnapshot(SNAPSHOT_ID),
        (csi, s) -> csi.unstage(volume(csi, Map.of(), mib).getVolumeId(), at(s, STAGING)),
        (csi, _) -> csi.deleteByName("pvc-crash"),
        (_, s) -> Files.deleteIfExists(at(s, TARGET)));
  }

  private static Volume cloned(Calls csi) {
    return csi.create(
        Calls.request("pvc-clone", 16 * MIB)
            .setVolumeContentSource(
                VolumeContentSource.newBuilder()
                    .setVolume(
                        VolumeContentSource.VolumeSource.newBuilder()
                            .setVolumeId(VolumeId.fromName("pvc-crash").value()))));
  }

  /** A clone of a mounted volume. */
  private static List<Step> cloned() {
    return List.of(
        (csi, s) -> csi.stage(volume(csi, Map.of()), at(s, STAGING), mount("ext4")),
        (_, s) -> Files.writeString(at(s, STAGING).resolve("data"), "precious"),
        (csi, _) -> cloned(csi),
        // hangs if the filesystem is still frozen
        (_, s) -> Files.writeString(at(s, STAGING).resolve("data"), "changed"),
        (csi, s) -> csi.stage(cloned(csi), at(s, TARGET), mount("ext4")),
        (_, s) -> assertThat(at(s, TARGET).resolve("data")).hasContent("precious"),
        (csi, s) -> csi.unstage(cloned(csi).getVolumeId(), at(s, TARGET)),
        (csi, _) -> csi.deleteByName("pvc-clone"),
        (csi, s) -> csi.unstage(volume(csi, Map.of()).getVolumeId(), at(s, STAGING)),
        (csi, _) -> csi.deleteByName("pvc-crash"),
        (_, s) -> Files.deleteIfExists(at(s, TARGET)));
  }

  private static List<Step> ephemeral() {
    return List.of(
        (csi, s) ->
            csi.publish(
                Calls.ephemeral("csi-crash", at(s, TARGET), mount(""), Map.of("size", "16Mi"))),
        (_, s) -> Files.writeString(at(s, TARGET).resolve("data"), "scratch"),
        (csi, s) -> csi.unpublish("csi-crash", at(s, TARGET)));
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void aMountedVolume(Crash.When when) throws IOException {
    killEverywhere(mounted(Map.of(), "ext4", 16), when, 18, 1);
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void anXfsVolume(Crash.When when) throws IOException {
    killEverywhere(mounted(Map.of(), "xfs", 300), when, 18, 8);
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void anExpandedRawBlockVolume(Crash.When when) throws IOException {
    killEverywhere(raw(), when, 15, 1);
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void aSnapshotAndAVolumeFromIt(Crash.When when) throws IOException {
    killEverywhere(copied("ext4", 16, 0), when, 30, 4);
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void aSnapshotOfAnXfsVolume(Crash.When when) throws IOException {
    killEverywhere(copied("xfs", 300, 300), when, 30, 12);
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void aCloneOfAMountedVolume(Crash.When when) throws IOException {
    killEverywhere(cloned(), when, 20, 3);
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void anEphemeralVolume(Crash.When when) throws IOException {
    killEverywhere(ephemeral(), when, 10, 1);
  }

  @Test
  void anEphemeralVolumeThatCannotBePublishedIsRemoved() {
    ProcessRunner real = new ProcessRunner();
    CommandRunner dies =
        command -> {
          if (command.program().equals("mkfs.ext4")) {
            throw new Crash.Died("before mkfs");
          }
          return real.run(command);
        };
    CommandRunner fails =
        command -> real.run(command.program().equals("mkfs.ext4") ? Command.of("false") : command);
    try (Scratch scratch = new Scratch()) {
      for (CommandRunner runner : List.of(dies, fails)) {
        try (FileModeDriver driver =
            FileModeDriver.start(
                scratch.directory(), runner, new DurableFiles(), FileModeDriver.POOL)) {
          assertThatExceptionOfType(StatusRuntimeException.class)
              .isThrownBy(() -> ephemeral().getFirst().run(new Calls(driver), scratch));
        }
      }
      scratch.assertNothingLeft();
    }
  }

  /** The audit removes it through the same interface as every other state file. */
  @Test
  void aStartThatRemovesARecordOfAPendingMount() throws IOException {
    try (Scratch scratch = new Scratch()) {
      String target = at(scratch, TARGET).toString();
      Path record =
          Files.createDirectories(scratch.state().resolve("unfinished"))
              .resolve(VolumeId.fromName(target).value());
      List<String> crashes = new ArrayList<>();
      Crash crash;
      do {
        Files.writeString(record, target);
        crash = new Crash(crashes.size() + 1, Crash.When.BEFORE);
        runUntilCrash(crash, List.of(), scratch);
        crashes.add(crash.at());
      } while (crash.happened());
      assertThat(crashes)
          .anyMatch(at -> at.contains("delete ") && at.endsWith("/" + record.getFileName()));
      scratch.assertNothingLeft();
    }
  }

  @ParameterizedTest
  @EnumSource(Crash.When.class)
  void aKataVolume(Crash.When when) throws IOException {
    killEverywhere(
        mounted(Map.of("kataContainers", "true"), "ext4", 16),
        when,
        30,
        when == Crash.When.AFTER ? 2 : 8);
  }

  /**
   * Crashes the driver at each step of a lifecycle.
   *
   * @param atLeast the minimum number of steps of the lifecycle
   * @param stride outside of campaigns only one in this many steps, chosen by the seed
   */
  private static void killEverywhere(List<Step> lifecycle, Crash.When when, int atLeast, int stride)
      throws IOException {
    SplittableRandom random = new SplittableRandom(SEED);
    int step = 1;
    while (killAt(lifecycle, new Crash(step, when))) {
      step += CAMPAIGN || stride == 1 ? 1 : random.nextInt(1, 2 * stride);
    }
    assertThat(step).as("steps that were tried").isGreaterThan(atLeast);
  }

  /** Returns whether the driver crashed: false if the lifecycle has fewer steps. */
  private static boolean killAt(List<Step> lifecycle, Crash crash) throws IOException {
    try (Scratch scratch = new Scratch()) {
      int done = runUntilCrash(crash, lifecycle, scratch);
      try (FileModeDriver next =
          FileModeDriver.start(
              scratch.directory(), new ProcessRunner(), new DurableFiles(), FileModeDriver.POOL)) {
        assertThat(next.driver().startAudit().findings())
            .as(crash.at())
            .noneMatch(finding -> finding.kind() == AuditReport.Kind.DEVICE_WITHOUT_RECORD)
            .noneMatch(finding -> finding.kind() == AuditReport.Kind.RECORD_WITHOUT_DEVICE)
            .noneMatch(finding -> finding.kind() == AuditReport.Kind.DAMAGED_RECORD);
        Calls csi = new Calls(next);
        for (Step step : lifecycle.subList(done, lifecycle.size())) {
          step.run(csi, scratch);
        }
      } catch (StatusRuntimeException | AssertionError e) {
        throw new AssertionError("killed at " + crash.at() + ": " + e.getMessage(), e);
      }
      Files.deleteIfExists(at(scratch, STAGING));
      try {
        scratch.assertNothingLeft();
      } catch (AssertionError e) {
        throw new AssertionError("killed at " + crash.at() + ": " + e.getMessage(), e);
      }
    }
    return crash.happened();
  }

  /** Returns how many steps of the lifecycle were done when the driver crashed. */
  private static int runUntilCrash(Crash crash, List<Step> lifecycle, Scratch scratch)
      throws IOException {
    int done = 0;
    try (FileModeDriver crashing =
        FileModeDriver.start(
            scratch.directory(),
            new HostAccess(crash, crash, crash, crash),
            FileModeDriver.POOL,
            crash::around)) {
      Calls csi = new Calls(crashing);
      while (done < lifecycle.size() && !crash.happened()) {
        try {
          lifecycle.get(done).run(csi, scratch);
        } catch (StatusRuntimeException e) {
          if (!crash.happened()) {
            throw e;
          }
        }
        if (!crash.happened()) {
          done++;
        }
      }
    } catch (Crash.Died e) {
      // during the start
    }
    return done;
  }
}
