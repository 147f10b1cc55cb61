package io.pmemcsi.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script by which make calls Maven. */
class MavenScriptTest {

  /** Maven's console library would reset colours that nobody has set, at the end of each call. */
  @Test
  void aFileGetsNoCodesForTerminals(@TempDir Path folder) throws Exception {
    Path output = folder.resolve("output");

    int exitCode =
        new ProcessBuilder("../build/maven", "--version")
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start()
            .waitFor();

    assertThat(exitCode).isZero();
    assertThat(Files.readString(output)).contains("Apache Maven").doesNotContain("\u001b");
  }
}
