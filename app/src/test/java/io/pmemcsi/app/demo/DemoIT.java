package io.pmemcsi.app.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
        .contains("nothing is left behind");
    if (DriverHalf.obstacle().isEmpty()) {
      assertThat(shown).contains("NodePublishVolume", "DeleteVolume").doesNotContain("LEFT OUT");
    } else {
      assertThat(shown).contains("LEFT OUT: ");
    }
    assertThat(leftovers()).isEqualTo(before);
    assertThat(Files.readString(Path.of("/proc/self/mounts"))).doesNotContain("pmem-csi-demo-");
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
