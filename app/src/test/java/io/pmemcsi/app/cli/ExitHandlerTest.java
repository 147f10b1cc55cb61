package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.base.error.FatalException;
import io.pmemcsi.base.error.UsageException;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExitHandlerTest {

  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @Test
  void fatalErrorsAreWrittenToTheTerminationLog(@TempDir Path directory) {
    Path log = directory.resolve("termination-log");

    int code =
        ending(Map.of("TERMINATION_LOG_PATH", log.toString()))
            .failed(new FatalException("failed to run driver: no socket\nin /csi"));

    assertThat(code).isEqualTo(1);
    assertThat(err()).isEqualTo("pmem-csi: failed to run driver: no socket; in /csi\n");
    assertThat(log).hasContent("failed to run driver: no socket; in /csi");
  }

  @Test
  void aTerminationLogThatCannotBeWrittenHidesNothing(@TempDir Path directory) {
    int code =
        ending(Map.of("TERMINATION_LOG_PATH", directory.toString()))
            .failed(new FatalException("bad"));

    assertThat(code).isEqualTo(1);
    assertThat(err())
        .startsWith("pmem-csi: bad\npmem-csi: cannot write the termination log ")
        .endsWith(": Is a directory\n");
  }

  @Test
  void usageErrorsAreWrittenToTheTerminationLogToo(@TempDir Path directory) {
    Path log = directory.resolve("termination-log");

    int code =
        ending(Map.of("TERMINATION_LOG_PATH", log.toString())).failed(new UsageException("bad"));

    assertThat(code).isEqualTo(2);
    assertThat(log).hasContent("bad");
  }

  @Test
  void defectsAreOneLineToo() {
    assertThat(ending(Map.of()).failed(new IllegalStateException("a\nb"))).isEqualTo(1);
    assertThat(err())
        .isEqualTo(
            "pmem-csi: this should not have happened: java.lang.IllegalStateException: a; b\n");
  }

  @Test
  void errorsOfTheMachineAreOneLineToo() {
    assertThat(ending(Map.of()).failed(new OutOfMemoryError("heap"))).isEqualTo(1);
    assertThat(err()).contains("java.lang.OutOfMemoryError: heap").hasLineCount(1);
  }

  private ExitHandler ending(Map<String, String> environment) {
    return new ExitHandler(
        new CliEnvironment(
            environment,
            InputStream.nullInputStream(),
            System.out,
            new PrintStream(err, true, StandardCharsets.UTF_8)));
  }

  private String err() {
    return err.toString(StandardCharsets.UTF_8);
  }
}
