package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.device.VolumeId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The program as users start it. */
class LauncherIT {

  private static final Duration TIMEOUT = Duration.ofMinutes(4);

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({
    "pmem-csi,version",
    "pmem-csi-driver,-version",
    "pmem-csi-driver,--version",
    "pmem-csi-operator,-version",
    "pmem-csi-operator,--version",
    "csi-operator,-version"
  })
  void everyNameOfTheProgramWorks(String name, String argument) throws Exception {
    assertPrintsItsVersion(start(name, List.of(argument)));
  }

  private void assertPrintsItsVersion(Process process) throws Exception {
    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(err()).isEmpty();
    assertThat(out()).isEqualTo(Version.current() + "\n");
    assertThat(process.exitValue()).isZero();
  }

  @Test
  void driverServesUntilItIsStopped() throws Exception {
    Path socket = directory.resolve("csi.sock");
    Process process =
        start(
            "pmem-csi-driver",
            List.of(
                "-mode=node",
                "-deviceManager=file",
                "-nodeid=here",
                "-endpoint=unix://" + socket,
                "-statePath=" + directory.resolve("state"),
                "-v=3",
                "-logging-format=json"));
    try {
      // it is still starting then, and must already react to a signal
      await()
          .atMost(TIMEOUT)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(2))
          .until(() -> Files.exists(socket));
      process.destroy();

      assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isZero();
      assertThat(err().lines().findFirst().orElseThrow())
          .matches(
              "\\{\"ts\":\\d+\\.\\d+,\"caller\":.*\"msg\":\"PMEM-CSI started.\".*\"version\":.*");
      assertThat(err().lines().reduce((_, last) -> last).orElseThrow())
          .contains("\"msg\":\"PMEM-CSI stopped.\"");
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void exitCodeOfAnAuditReportsFindings() throws Exception {
    Path state = directory.resolve("state");
    Process driver =
        start(
            "pmem-csi-driver",
            List.of(
                "-deviceManager=file",
                "-endpoint=unix://" + directory.resolve("csi.sock"),
                "-metricsListen=127.0.0.1:0",
                "-statePath=" + state));
    try {
      await().atMost(TIMEOUT).until(() -> err().contains("PMEM-CSI ready."));
      assertThat(err())
          .as("the port that the system chose")
          .containsPattern("endpoint=\"http://127\\.0\\.0\\.1:[1-9]\\d*/metrics\"");

      assertThat(audit(state)).isZero();
      assertThat(directory.resolve("audit"))
          .content()
          .contains("0 volumes in the ledger, 0 devices");

      String id = VolumeId.fromName("orphan").value();
      Path orphan = Files.createDirectories(state.resolve("devices")).resolve(id + ".img");
      Files.write(orphan, new byte[4096]);
      assertThat(audit(state)).isEqualTo(1);
      assertThat(directory.resolve("audit"))
          .content()
          .containsPattern("device-without-record +" + id);
      assertThat(orphan).exists();
      assertThat(driver.isAlive()).isTrue();
    } finally {
      driver.destroy();
      driver.onExit().join();
    }
  }

  private int audit(Path state) throws Exception {
    Process audit =
        new ProcessBuilder(
                Path.of("../bin/pmem-csi-driver").toAbsolutePath().normalize().toString(),
                "audit",
                "-deviceManager=file",
                "-statePath=" + state)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("audit").toFile())
            .start();
    assertThat(audit.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return audit.exitValue();
  }

  @Test
  void aFatalErrorReachesTheTerminationLog() throws Exception {
    Path log = directory.resolve("termination-log");
    Path file = Files.writeString(directory.resolve("a-file"), "");
    Process process =
        start(
            "pmem-csi-driver",
            List.of("-deviceManager=file", "-v=0", "-statePath=" + file.resolve("state")),
            "TERMINATION_LOG_PATH=" + log);

    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(err().lines()).hasSize(1);
    assertThat("pmem-csi: " + Files.readString(log)).isEqualTo(err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"version", "render -f ../deploy/samples/pmem-csi.yaml", "render --help"})
  void lostOutputIsAFailure(String line) throws Exception {
    List<String> command = new ArrayList<>(List.of("../bin/pmem-csi"));
    command.addAll(List.of(line.split(" ")));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(Path.of("/dev/full").toFile())
            .redirectError(directory.resolve("err").toFile())
            .start();

    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(err())
        .isEqualTo(
            "pmem-csi: standard output cannot be written: is the disk full, or has its reader"
                + " gone?\n");
    assertThat(process.exitValue()).isEqualTo(1);
  }

  private Process start(String name, List<String> arguments, String... environment)
      throws IOException {
    return start(Path.of("../bin", name).toAbsolutePath().normalize(), arguments, environment);
  }

  private Process start(Path program, List<String> arguments, String... environment)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("env"));
    command.addAll(List.of(environment));
    command.add(program.toString());
    command.addAll(arguments);
    return new ProcessBuilder(command)
        .redirectOutput(directory.resolve("out").toFile())
        .redirectError(directory.resolve("err").toFile())
        .start();
  }

  private String out() throws IOException {
    return Files.readString(directory.resolve("out"), StandardCharsets.UTF_8);
  }

  private String err() throws IOException {
    return Files.readString(directory.resolve("err"), StandardCharsets.UTF_8);
  }
}
