package io.pmemcsi.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pmemcsi.base.version.Version;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program as an image has it, and its AOT cache, which the trainer in this module makes. */
class DistIT {

  private static final Duration TIMEOUT = Duration.ofMinutes(4);

  @TempDir private Path directory;

  /** Does nothing if the cache exists. */
  @BeforeEach
  void train() throws Exception {
    Process process =
        new ProcessBuilder("../build/train-aot")
            .redirectOutput(directory.resolve("training").toFile())
            .redirectErrorStream(true)
            .start();
    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(directory.resolve("training")).isEmptyFile();
    assertThat(process.exitValue()).isZero();
  }

  @Test
  void driverStartsWithItsCache() throws Exception {
    // with this option the JVM refuses to start without a matching cache
    Process process =
        start(
            Path.of("../bin/pmem-csi-driver").toAbsolutePath().normalize(),
            List.of(
                "-deviceManager=file",
                "-endpoint=unix://" + directory.resolve("csi.sock"),
                "-statePath=" + directory.resolve("state"),
                "-logging-format=json"),
            "PMEM_CSI_JAVA_OPTIONS=-XX:AOTMode=on");
    try {
      await()
          .atMost(TIMEOUT)
          .until(() -> output().contains("PMEM-CSI ready.") || !process.isAlive());
      process.destroy();

      assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(output()).contains("PMEM-CSI ready.");
      assertThat(output().lines()).allMatch(line -> line.startsWith("{\"ts\":"));
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void cacheOfAnotherBuildIsIgnoredSilently() throws Exception {
    Path home = dist();
    // made for the same jars in another place and of another time
    Path cache = Files.createDirectory(home.resolve("lib/pmem-csi/aot")).resolve("node.aot");
    Files.copy(Path.of("../app/target/aot/node.aot"), cache);

    assertPrintsItsVersion(start(home.resolve("bin/pmem-csi-driver"), List.of("-version")));
  }

  @ParameterizedTest
  @CsvSource({"pmem-csi-driver,--version", "pmem-csi-operator,-version"})
  void everyNameOfTheProgramWorks(String name, String argument) throws Exception {
    assertPrintsItsVersion(start(dist().resolve("bin").resolve(name), List.of(argument)));
  }

  private void assertPrintsItsVersion(Process process) throws Exception {
    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(output()).isEqualTo(Version.current() + "\n");
    assertThat(process.exitValue()).isZero();
  }

  @Test
  void demoIsNotInstalledAndTheLauncherSaysWhatToDo() throws Exception {
    Path home = dist();

    Process process = start(home.resolve("bin/pmem-csi"), List.of("demo"));

    assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(output())
        .isEqualTo(
            "pmem-csi: the demo is not installed: run 'make demo' in a source tree of PMEM-CSI\n");
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(home.resolve("lib/pmem-csi/lib"))
        .isDirectoryNotContaining(file -> file.getFileName().toString().contains("embedded"));
  }

  /** The training of the image's build: what it leaves is all that the image has. */
  @Test
  void imageTrainsItsOwnCache() throws Exception {
    Path home = dist();
    Path program = home.resolve("lib/pmem-csi");
    // as the Containerfile copies it
    Files.move(home.resolve("training"), program.resolve("training"));
    Process training =
        new ProcessBuilder(program.resolve("training/train-aot").toString())
            .redirectOutput(directory.resolve("training").toFile())
            .redirectErrorStream(true)
            .start();

    assertThat(training.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();

    assertThat(directory.resolve("training")).isEmptyFile();
    assertThat(program.resolve("aot/node.aot")).isNotEmptyFile();
    assertPrintsItsVersion(
        start(
            home.resolve("bin/pmem-csi-driver"),
            List.of("-version"),
            "PMEM_CSI_JAVA_OPTIONS=-XX:AOTMode=on"));
  }

  /** Lays the program out as in an image, with the JDK of this test as the image's runtime. */
  private Path dist() throws Exception {
    Path home = directory.resolve("image");
    Process dist = new ProcessBuilder("../build/dist", home.toString()).inheritIO().start();
    assertThat(dist.waitFor()).isZero();
    Files.createSymbolicLink(
        home.resolve("lib/pmem-csi/runtime"), Path.of(System.getProperty("java.home")));
    return home;
  }

  private Process start(Path program, List<String> arguments, String... environment)
      throws IOException {
    List<String> command = new ArrayList<>(List.of("env"));
    command.addAll(List.of(environment));
    command.add(program.toString());
    command.addAll(arguments);
    return new ProcessBuilder(command)
        .redirectOutput(directory.resolve("output").toFile())
        .redirectErrorStream(true)
        .start();
  }

  private String output() throws IOException {
    return Files.readString(directory.resolve("output"), StandardCharsets.UTF_8);
  }
}
