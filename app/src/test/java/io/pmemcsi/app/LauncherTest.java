package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which Java the launcher takes outside a source tree, on machines that are made up. */
class LauncherTest {

  private static final List<String> TOOLS = List.of("basename", "dirname", "readlink");
  private static final String REMEDY =
      ": install it (for example the package temurin-25-jre or openjdk-25-jre-headless) and let"
          + " JAVA_HOME name its directory.\n";

  @TempDir private Path directory;

  private final Map<String, String> environment = new HashMap<>();
  private Path launcher;

  @BeforeEach
  void layOutTheProgramAsInAnImage() throws IOException {
    directory = directory.toRealPath();
    Path tools = Files.createDirectories(directory.resolve("tools"));
    for (String tool : TOOLS) {
      program(tools.resolve(tool), "#!/bin/sh\nexec /usr/bin/%s \"$@\"\n".formatted(tool));
    }
    environment.put("PATH", tools.toString());
    Path program = Files.createDirectories(directory.resolve("local/lib/pmem-csi"));
    Files.writeString(program.resolve("pmem-csi.jar"), "");
    launcher = Files.createDirectories(directory.resolve("local/bin")).resolve("pmem-csi");
    Files.copy(Path.of("../bin/pmem-csi"), launcher);
  }

  @ParameterizedTest
  @ValueSource(strings = {"25", "25.0.1", "26-ea", "100.0.2"})
  void newEnoughJavaIsStarted(String version) throws Exception {
    environment.put("JAVA_HOME", java("jdk", version).toString());

    ScriptRun run = launch();

    assertThat(run.err()).isEmpty();
    assertThat(run.out()).endsWith(" io.pmemcsi.app.Main version\n");
    assertThat(run.exitCode()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"24.0.2", "17.0.15", "1.8.0_452"})
  void olderJavaIsReportedWithItsVersion(String version) throws Exception {
    Path jdk = java("older", version);
    environment.put("JAVA_HOME", jdk.toString());

    assertThat(launch())
        .isEqualTo(
            new ScriptRun(
                1,
                "",
                "pmem-csi: Java 25 or newer is needed, and %s has %s".formatted(jdk, version)
                    + REMEDY));
  }

  @Test
  void olderJavaInThePathIsReportedWithItsDirectory() throws Exception {
    Path jdk = java("older", "21.0.1");
    Files.createSymbolicLink(directory.resolve("tools/java"), jdk.resolve("bin/java"));

    assertThat(launch().err())
        .isEqualTo(
            "pmem-csi: Java 25 or newer is needed, and %s has 21.0.1".formatted(jdk) + REMEDY);
  }

  @Test
  void missingJavaIsReported() throws Exception {
    assertThat(launch())
        .isEqualTo(
            new ScriptRun(
                1,
                "",
                "pmem-csi: Java 25 or newer is needed, and there is no java in the PATH" + REMEDY));
  }

  @Test
  void wrongJavaHomeIsReported() throws Exception {
    environment.put("JAVA_HOME", "/no/such/jdk");

    assertThat(launch())
        .isEqualTo(
            new ScriptRun(
                1,
                "",
                "pmem-csi: Java 25 or newer is needed, and JAVA_HOME=/no/such/jdk has no bin/java"
                    + REMEDY));
  }

  @Test
  void javaWithoutReleaseFileIsAccepted() throws Exception {
    Path jdk = java("jdk", "17");
    Files.delete(jdk.resolve("release"));
    environment.put("JAVA_HOME", jdk.toString());

    assertThat(launch().exitCode()).isZero();
  }

  @Test
  void failureIsInTheTerminationLog() throws Exception {
    Path log = directory.resolve("termination-log");
    environment.put("TERMINATION_LOG_PATH", log.toString());

    assertThat(launch().err()).isEqualTo("pmem-csi: " + Files.readString(log));
  }

  private ScriptRun launch() throws IOException, InterruptedException {
    return ScriptRun.of(directory, environment, launcher.toString(), "version");
  }

  /** A java that only prints its arguments. */
  private Path java(String name, String version) throws IOException {
    Path jdk = directory.resolve(name);
    program(
        Files.createDirectories(jdk.resolve("bin")).resolve("java"), "#!/bin/sh\necho \"$@\"\n");
    Files.writeString(
        jdk.resolve("release"),
        "IMPLEMENTOR=\"None\"\nJAVA_VERSION=\"%s\"\nMODULES=\"java.base\"\n".formatted(version));
    return jdk;
  }

  private static void program(Path file, String content) throws IOException {
    Files.writeString(file, content);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
