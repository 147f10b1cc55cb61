package io.pmemcsi.app.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DemoIT {

  @Test
  void theDemoShowsBothHalvesAndLeavesNothingBehind() throws Exception {
    List<Path> before = leftovers();
    ByteArrayOutputStream out = new ByteArrayOutputStream();

    Demo.run(new PrintStream(out, true, StandardCharsets.UTF_8));

    String shown = out.toString(StandardCharsets.UTF_8);
    assertThat(shown)
        .contains("Initializing", "Running", "DaemonSet", "pmem-csi-intel-com-node", "It is back")
        .contains(
            "samples/pmem-csi.yaml", "samples/pmem-csi-controller.yaml", "samples/hostpath.yaml")
        .contains("nothing is left behind");
    // missing programs are no excuse: build/tools installs them
    if (mayMount()) {
      assertThat(shown).contains("NodePublishVolume", "DeleteVolume").doesNotContain("LEFT OUT");
    } else {
      assertThat(shown).contains("LEFT OUT: ");
    }
    assertThat(leftovers()).isEqualTo(before);
    assertThat(Files.readString(Path.of("/proc/self/mounts"))).doesNotContain("pmem-csi-demo-");
  }

  @Test
  void aStoppedDemoLeavesNothingBehind() throws Exception {
    assumeThat(mayMount()).isTrue();
    List<Path> before = leftovers();
    Process demo =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home", ""), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path", ""),
                "io.pmemcsi.app.Main",
                "demo")
            .redirectErrorStream(true)
            .start();
    try (BufferedReader lines = demo.inputReader(StandardCharsets.UTF_8)) {
      String mounted =
          lines.lines().filter(line -> line.contains("NodeStageVolume")).findFirst().orElse("");
      assertThat(mounted).contains("mounted");

      // Process.destroy would close what the demo still has to say
      assertThat(demo.toHandle().destroy()).isTrue();
      String rest = lines.lines().collect(Collectors.joining("\n"));

      assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(rest).contains("NodeUnstageVolume", "DeleteVolume");
    } finally {
      demo.destroyForcibly();
    }
    assertThat(leftovers()).isEqualTo(before);
  }

  private static boolean mayMount() {
    return "root".equals(System.getProperty("user.name"))
        && Files.exists(Path.of("/dev/loop-control"));
  }

  private static List<Path> leftovers() throws IOException {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir", "/tmp")))) {
      return files
          .filter(file -> String.valueOf(file.getFileName()).startsWith("pmem-csi-demo-"))
          .sorted()
          .toList();
    }
  }
}
