package io.pmemcsi.base.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.base.error.UsageException;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

@Isolated("there is one log for all of the JVM")
class LoggingTest {

  private static final Logger OWN = LoggerFactory.getLogger(LoggingTest.class);
  private static final Logger LIBRARY = LoggerFactory.getLogger("io.grpc.Something");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  @AfterEach
  void restore() {
    Logging.configure(LogFormat.TEXT, Verbosity.PRODUCTION);
  }

  @Test
  void textLinesHaveTheKlogHeader() {
    Logging.configure(LogFormat.TEXT, Verbosity.PRODUCTION, out);

    OWN.atInfo()
        .addKeyValue("version", "v2 \"x\"")
        .addKeyValue("size", 42)
        .log("PMEM-CSI started.");

    assertThat(written())
        .matches(
            "I\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{6} +\\d+ LoggingTest\\.java:\\d+\\] PMEM-CSI"
                + " started\\. version=\"v2 \\\\\"x\\\\\"\" size=42\n");
  }

  @Test
  void jsonLinesStartWithTimeAndCaller() {
    Logging.configure(LogFormat.JSON, Verbosity.PRODUCTION, out);

    OWN.atInfo().addKeyValue("version", "v2\t\"x\"\u0001").addKeyValue("size", 42L).log("a\nb");

    assertThat(written())
        .matches(
            "\\{\"ts\":\\d+\\.\\d{6},\"caller\":\"log/LoggingTest\\.java:\\d+\",\"msg\":\"a\\\\n"
                + "b\",\"v\":3,\"version\":\"v2\\\\t\\\\\"x\\\\\"\\\\u0001\",\"size\":42\\}\n");
  }

  @Test
  void errorsCarryTheReasonAndTheStackTrace() {
    Logging.configure(LogFormat.JSON, Verbosity.PRODUCTION, out);

    OWN.atError().setCause(new IllegalStateException("no region")).log("failed");

    assertThat(written())
        .contains("\"severity\":\"error\"", "\"err\":\"IllegalStateException: no region\"")
        .contains("\"stacktrace\":\"java.lang.IllegalStateException: no region\\n");
  }

  /** JOSDK cannot start to lead when its executors have been shut down. */
  @Test
  void anElectionThatIsWonDuringTheShutdownIsNoError() {
    Logging.configure(LogFormat.TEXT, Verbosity.PRODUCTION, out);

    Logger election =
        LoggerFactory.getLogger(
            "io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector");
    election.error(
        "Exception during leader election",
        new CompletionException(new RejectedExecutionException("shut down")));
    assertThat(written()).isEmpty();

    election.error("Exception during leader election", new IllegalStateException("other"));
    assertThat(written()).contains("IllegalStateException: other");
  }

  @Test
  void warningsCarryTheReasonOnly() {
    Logging.configure(LogFormat.TEXT, Verbosity.PRODUCTION, out);

    OWN.atWarn().setCause(new IllegalStateException("no\nregion")).log("failed");

    assertThat(written())
        .startsWith("W")
        .endsWith("failed err=\"IllegalStateException: no\\nregion\"\n");
  }

  @ParameterizedTest
  @CsvSource({"0,EW", "2,EW", "3,EWI", "4,EWID", "5,EWIDT", "10,EWIDT"})
  void verbosityChoosesWhatIsShown(int verbosity, String expected) {
    Logging.configure(LogFormat.TEXT, new Verbosity(verbosity), out);

    OWN.error("_E");
    OWN.warn("_W");
    OWN.info("_I");
    OWN.debug("_D");
    OWN.trace("_T");

    assertThat(written().lines().map(line -> line.substring(line.indexOf('_') + 1)).toList())
        .isEqualTo(expected.chars().mapToObj(Character::toString).toList());
  }

  @Test
  void librariesAreQuietInProduction() {
    Logging.configure(LogFormat.TEXT, new Verbosity(4), out);

    LIBRARY.info("frame");
    LIBRARY.warn("problem");

    assertThat(written()).contains("problem").doesNotContain("frame");
  }

  @ParameterizedTest
  @CsvSource({"0,false", "4,false", "5,true"})
  void whatIsWrongWithAKubeconfigIsNotSaidTwice(int verbosity, boolean shown) {
    Logging.configure(LogFormat.TEXT, new Verbosity(verbosity), out);

    for (String name : List.of("SSLUtils", "KubeConfigUtils")) {
      out.reset();
      LoggerFactory.getLogger("io.fabric8.kubernetes.client.internal." + name).warn("problem");
      assertThat(written().contains("problem")).as(name).isEqualTo(shown);
    }
  }

  @ParameterizedTest
  @CsvSource({"0,false", "3,false", "5,true"})
  void aStoppedWatchIsLoggedOnce(int verbosity, boolean shown) {
    Logging.configure(LogFormat.TEXT, new Verbosity(verbosity), out);
    Logger watch =
        LoggerFactory.getLogger("io.fabric8.kubernetes.client.informers.impl.cache.Reflector");

    watch.error("will stop", new IllegalStateException("gone"));
    watch.warn("will retry");

    assertThat(written().contains("will stop")).isEqualTo(shown);
    assertThat(written()).contains("will retry");
  }

  /** The operator reports each of them itself, in one line. */
  @ParameterizedTest
  @CsvSource({"0,false", "3,false", "5,true"})
  void failedReconciliationsAreNotReportedTwice(int verbosity, boolean shown) {
    Logging.configure(LogFormat.TEXT, new Verbosity(verbosity), out);

    Logger events =
        LoggerFactory.getLogger("io.javaoperatorsdk.operator.processing.event.EventProcessor");
    events.warn("Uncaught error during event processing", new IllegalStateException("forbidden"));
    events.warn("No resource found, this indicates issue with implementation.");

    assertThat(written().contains("Uncaught")).isEqualTo(shown);
    assertThat(written()).contains("No resource found");
  }

  @Test
  void aNewSetUpLeavesTheOldStreamOpen() {
    AtomicBoolean closed = new AtomicBoolean();
    OutputStream watched =
        new FilterOutputStream(out) {
          @Override
          public void close() {
            closed.set(true);
          }
        };
    Logging.configure(LogFormat.TEXT, Verbosity.PRODUCTION, watched);

    Logging.configure(LogFormat.JSON, Verbosity.PRODUCTION, out);

    assertThat(closed).isFalse();
  }

  @Test
  void unknownFormatsAreRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> LogFormat.parse("xml"))
        .isInstanceOf(UsageException.class)
        .hasMessage("-logging-format=xml is unknown: use text or json");
  }

  private String written() {
    return out.toString(StandardCharsets.UTF_8);
  }
}
