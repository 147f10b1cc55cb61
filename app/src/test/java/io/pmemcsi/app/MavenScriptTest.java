package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script by which make calls Maven. */
class MavenScriptTest {

  @TempDir private Path folder;

  /** Maven's console library would reset colours that nobody has set, at the end of each call. */
  @Test
  void aFileGetsNoCodesForTerminals() throws Exception {
    assertThat(call(System.getenv("PATH"), "--version"))
        .contains("Apache Maven")
        .doesNotContain("\u001b");
  }

  /** Maven's own --quiet keeps back the warnings for which -Werror fails a build. */
  @Test
  void aQuietBuildStillWarns() throws Exception {
    fakeMaven();

    assertThat(call(folder + ":" + System.getenv("PATH"), "--quiet", "test", "-Da=b c"))
        .contains("defaultLogLevel=warn")
        .doesNotContain("=info")
        .endsWith(" --batch-mode --no-transfer-progress test -Da=b c\n");
  }

  private void fakeMaven() throws IOException {
    Path maven = Files.writeString(folder.resolve("mvn"), "#!/bin/sh\necho \"$MAVEN_OPTS $@\"\n");
    Files.setPosixFilePermissions(maven, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private String call(String path, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("../build/maven"));
    command.addAll(List.of(arguments));
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().put("PATH", path);
    builder.environment().remove("MAVEN_OPTS");
    assertThat(builder.start().waitFor()).isZero();
    return Files.readString(output);
  }
}
