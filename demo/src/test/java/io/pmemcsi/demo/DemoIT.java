package io.pmemcsi.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo as users start it. */
class DemoIT {

  private static final List<String> STEPS =
      List.of(
          "CreateVolume",
          "NodeStageVolume",
          "NodePublishVolume",
          "write",
          "read",
          "NodeUnpublishVolume",
          "NodeUnstageVolume",
          "DeleteVolume");

  @TempDir private Path directory;

  /** Where the demo creates its directories: another demo may run at the same time. */
  @TempDir private Path temp;

  @Test
  void theDemoShowsBothHalvesAndLeavesNothingBehind() throws Exception {
    Path out = directory.resolve("out");
    Process demo = demo().redirectErrorStream(true).redirectOutput(out.toFile()).start();
    try {
      assertThat(demo.waitFor(3, TimeUnit.MINUTES)).isTrue();
    } finally {
      demo.destroyForcibly();
    }

    String shown = Files.readString(out, StandardCharsets.UTF_8);
    assertThat(demo.exitValue()).as(shown).isZero();
    assertThat(shown)
        .contains(
            "Initializing",
            "Running",
            "DaemonSet",
            "pmem-csi-intel-com-node",
            "The operator recreated it")
        .contains(
            "samples/pmem-csi.yaml", "samples/pmem-csi-controller.yaml", "samples/hostpath.yaml")
        .contains("Nodes (simulated): ", "Its status (pods are simulated):")
        .contains("Its conditions (pods are simulated):")
        .containsPattern("(?m)^ +[0-9.]+ s +True +True +All driver pods are ready")
        .contains("nothing is left behind");
    // build/tools installs missing programs
    if (mayMount()) {
      assertThat(shown).doesNotContain("LEFT OUT").contains("memory is simulated by sparse files");
      for (String step : STEPS) {
        assertThat(shown)
            .as("time and capacity of " + step)
            .containsPattern("(?m)^ *%s +[0-9.]+ s +[0-9,]+ MiB".formatted(step));
      }
    } else {
      assertThat(shown).contains("LEFT OUT: ");
    }
    assertNothingIsLeft();
  }

  /** As in an unprivileged container. */
  @Test
  void whereRootMayNotMountTheDriverIsLeftOut() throws Exception {
    assumeThat(mayMount()).isTrue();
    ProcessBuilder builder = demo("--only=driver").redirectErrorStream(true);
    builder.command().addAll(0, List.of("setpriv", "--bounding-set", "-sys_admin"));
    Process demo = builder.start();
    try (BufferedReader lines = demo.inputReader(StandardCharsets.UTF_8)) {
      assertThat(lines.lines()).anyMatch(line -> line.startsWith("LEFT OUT: root may not mount"));
      assertThat(demo.waitFor(3, TimeUnit.MINUTES)).isTrue();
    } finally {
      demo.destroyForcibly();
    }
    assertThat(demo.exitValue()).isZero();
  }

  @Test
  void aStoppedDemoLeavesNothingBehind() throws Exception {
    assumeThat(mayMount()).isTrue();
    Process demo = demo("--only=driver").redirectErrorStream(true).start();
    try (BufferedReader lines = demo.inputReader(StandardCharsets.UTF_8)) {
      List<String> until = new ArrayList<>();
      String mounted =
          lines
              .lines()
              .peek(until::add)
              .filter(line -> line.contains("NodeStageVolume"))
              .findFirst()
              .orElse("");
      assertThat(mounted).contains("mounted");
      assertThat(until).noneMatch(line -> line.contains("in-process Kubernetes API"));

      // Process.destroy would close the output
      assertThat(demo.toHandle().destroy()).isTrue();
      String rest = lines.lines().collect(Collectors.joining("\n"));

      assertThat(demo.waitFor(3, TimeUnit.MINUTES)).isTrue();
      assertThat(rest).contains("NodeUnstageVolume", "DeleteVolume");
    } finally {
      demo.destroyForcibly();
    }
    assertNothingIsLeft();
  }

  @Test
  void wrongFlagIsOneLine() throws Exception {
    Process demo = demo("--only=both").redirectErrorStream(true).start();
    try (BufferedReader lines = demo.inputReader(StandardCharsets.UTF_8)) {
      assertThat(lines.lines())
          .containsExactly("pmem-csi: --only=both: it should be operator or driver");
      assertThat(demo.waitFor(3, TimeUnit.MINUTES)).isTrue();
    } finally {
      demo.destroyForcibly();
    }
    assertThat(demo.exitValue()).isEqualTo(2);
  }

  private ProcessBuilder demo(String... options) {
    List<String> command =
        new ArrayList<>(List.of(Path.of("../bin/pmem-csi").toAbsolutePath().toString(), "demo"));
    command.addAll(List.of(options));
    var builder = new ProcessBuilder(command);
    builder.environment().put("PMEM_CSI_JAVA_OPTIONS", "-Djava.io.tmpdir=" + temp);
    return builder;
  }

  private void assertNothingIsLeft() throws IOException {
    assertThat(temp).isEmptyDirectory();
    assertThat(Files.readString(Path.of("/proc/self/mounts"))).doesNotContain(temp.toString());
    assertThat(loopFiles()).noneMatch(file -> file.contains(temp.toString()));
  }

  /** The files behind all loop devices. */
  private static List<String> loopFiles() throws IOException {
    List<String> files = new ArrayList<>();
    try (DirectoryStream<Path> loops = Files.newDirectoryStream(Path.of("/sys/block"), "loop*")) {
      for (Path loop : loops) {
        try {
          files.add(Files.readString(loop.resolve("loop/backing_file"), StandardCharsets.UTF_8));
        } catch (IOException _) {
          // it has no file, or lost it just now: other processes use loop devices too
        }
      }
    }
    return files;
  }

  private static boolean mayMount() {
    return "root".equals(System.getProperty("user.name"))
        && Files.exists(Path.of("/dev/loop-control"));
  }
}
