package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.base.version.Version;
import io.pmemcsi.driver.device.VolumeId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
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

  private static final Duration PATIENCE = Duration.ofMinutes(4);

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "pmem-csi,version",
    "pmem-csi-driver,-version",
    "pmem-csi-driver,--version",
    "pmem-csi-operator,-version",
    "pmem-csi-operator,--version"
  })
  void everyNameOfTheProgramWorks(String name, String argument) throws Exception {
    assertPrintsItsVersion(start(name, List.of(argument)));
  }

  /** From the folder that deploy/image/Containerfile copies, with the Java of the image. */
  @ParameterizedTest
  @CsvSource({"pmem-csi-driver,--version", "pmem-csi-operator,-version"})
  void everyNameOfTheProgramWorksInAnImage(String name, String argument) throws Exception {
    Path local = dist(folder.resolve("local"));
    Path java = Path.of(System.getProperty("java.home"), "bin");

    assertPrintsItsVersion(
        start(
            local.resolve("bin").resolve(name),
            List.of(argument),
            "PATH=" + java + ":" + System.getenv("PATH")));
  }

  private void assertPrintsItsVersion(Process process) throws Exception {
    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(err()).isEmpty();
    assertThat(out()).isEqualTo(Version.current() + "\n");
    assertThat(process.exitValue()).isZero();
  }

  @Test
  void theDriverServesUntilItIsAskedToStop() throws Exception {
    Path socket = folder.resolve("csi.sock");
    Process process =
        start(
            "pmem-csi-driver",
            List.of(
                "-mode=node",
                "-deviceManager=file",
                "-nodeid=here",
                "-endpoint=unix://" + socket,
                "-statePath=" + folder.resolve("state"),
                "-v=3",
                "-logging-format=json"));
    try {
      // it still starts then, and must hear already that it shall stop
      await()
          .atMost(PATIENCE)
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(2))
          .until(() -> Files.exists(socket));
      process.destroy();

      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
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
  void anAuditBesideARunningDriverTellsByItsExitCodeWhetherAllFits() throws Exception {
    Path state = folder.resolve("state");
    Process driver =
        start(
            "pmem-csi-driver",
            List.of(
                "-deviceManager=file",
                "-endpoint=unix://" + folder.resolve("csi.sock"),
                "-metricsListen=127.0.0.1:0",
                "-statePath=" + state));
    try {
      await().atMost(PATIENCE).until(() -> err().contains("PMEM-CSI ready."));
      assertThat(err())
          .as("the port that the system chose")
          .containsPattern("endpoint=\"http://127\\.0\\.0\\.1:[1-9]\\d*/metrics\"");

      assertThat(audit(state)).isZero();
      assertThat(folder.resolve("audit")).content().contains("0 volumes in the ledger, 0 devices");

      String id = VolumeId.fromName("stray").value();
      Path stray = Files.createDirectories(state.resolve("devices")).resolve(id + ".img");
      Files.write(stray, new byte[4096]);
      assertThat(audit(state)).isEqualTo(1);
      assertThat(folder.resolve("audit")).content().containsPattern("device-without-record +" + id);
      assertThat(stray).exists();
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
            .redirectOutput(folder.resolve("audit").toFile())
            .start();
    assertThat(audit.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return audit.exitValue();
  }

  @Test
  void theDriverStartsWithItsCacheOfClasses() throws Exception {
    train();

    // with this option the JVM refuses to start without a cache that fits
    Process process =
        start(
            "pmem-csi-driver",
            List.of(
                "-deviceManager=file",
                "-endpoint=unix://" + folder.resolve("csi.sock"),
                "-statePath=" + folder.resolve("state"),
                "-logging-format=json"),
            "PMEM_CSI_JAVA_OPTIONS=-XX:AOTMode=on");
    try {
      await().atMost(PATIENCE).until(() -> err().contains("PMEM-CSI ready.") || !process.isAlive());
      process.destroy();

      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(out() + err()).contains("PMEM-CSI ready.");
      assertThat((out() + err()).lines()).allMatch(line -> line.startsWith("{\"ts\":"));
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aCacheOfAnotherBuildIsLeftAsideInSilence() throws Exception {
    train();
    Path home = dist(folder.resolve("image"));
    // a cache is for one JDK
    Files.createSymbolicLink(
        home.resolve("lib/pmem-csi/runtime"), Path.of(System.getProperty("java.home")));
    Path jar = home.resolve("lib/pmem-csi/pmem-csi.jar");
    FileTime built = Files.getLastModifiedTime(jar);
    Files.setLastModifiedTime(jar, FileTime.from(built.toInstant().plusSeconds(1)));

    assertPrintsItsVersion(start(home.resolve("bin/pmem-csi-driver"), List.of("-version")));
  }

  /** Lays the program out as an image has it. */
  private static Path dist(Path home) throws Exception {
    Process process = new ProcessBuilder("../build/dist", home.toString()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
    return home;
  }

  /** At once where the cache is there already. */
  private void train() throws Exception {
    Process process =
        new ProcessBuilder("../build/train-aot")
            .redirectOutput(folder.resolve("training").toFile())
            .redirectErrorStream(true)
            .start();
    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(folder.resolve("training")).isEmptyFile();
    assertThat(process.exitValue()).isZero();
  }

  @Test
  void aFatalErrorReachesTheTerminationLog() throws Exception {
    Path log = folder.resolve("termination-log");
    Path file = Files.writeString(folder.resolve("a-file"), "");
    Process process =
        start(
            "pmem-csi-driver",
            List.of("-deviceManager=file", "-v=0", "-statePath=" + file.resolve("state")),
            "TERMINATION_LOG_PATH=" + log);

    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(err().lines()).hasSize(1);
    assertThat("pmem-csi: " + Files.readString(log)).isEqualTo(err());
  }

  @ParameterizedTest
  @ValueSource(strings = {"version", "render -f ../deploy/samples/pmem-csi.yaml", "render --help"})
  void outputThatIsLostIsAFailure(String line) throws Exception {
    List<String> command = new ArrayList<>(List.of("../bin/pmem-csi"));
    command.addAll(List.of(line.split(" ")));
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(Path.of("/dev/full").toFile())
            .redirectError(folder.resolve("err").toFile())
            .start();

    assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
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
        .redirectOutput(folder.resolve("out").toFile())
        .redirectError(folder.resolve("err").toFile())
        .start();
  }

  private String out() throws IOException {
    return Files.readString(folder.resolve("out"), StandardCharsets.UTF_8);
  }

  private String err() throws IOException {
    return Files.readString(folder.resolve("err"), StandardCharsets.UTF_8);
  }
}
