package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.app.settings.DriverProgramSettings;
import io.pmemcsi.app.settings.Mode;
import io.pmemcsi.app.settings.NodeSelector;
import io.pmemcsi.base.error.UsageException;
import io.pmemcsi.base.http.ListenAddress;
import io.pmemcsi.base.names.DriverName;
import io.pmemcsi.driver.DriverSettings;
import io.pmemcsi.driver.csi.Endpoint;
import io.pmemcsi.driver.device.DeviceMode;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class DriverFlagsTest {

  @Command
  private static final class Empty {}

  @Test
  void defaultsAreThoseOfTheDocumentation() {
    assertThat(settings(Map.of()))
        .isEqualTo(
            new DriverProgramSettings(
                Mode.NODE,
                new DriverSettings(
                    new DriverName("pmem-csi.intel.com"),
                    "nodeid",
                    new Endpoint(Path.of("/tmp/pmem-csi.sock")),
                    Path.of("/var/lib/pmem-csi.intel.com"),
                    DeviceMode.LVM,
                    100,
                    Optional.empty(),
                    "/metrics"),
                false,
                new NodeSelector(Map.of()),
                Optional.empty(),
                Optional.empty(),
                Optional.empty()));
  }

  @Test
  void everyFlagHasItsEffect() {
    DriverProgramSettings settings =
        settings(
            Map.of("KUBECONFIG", "/k"),
            "-mode=webhooks",
            "-drivername=second.example.org",
            "--nodeid=worker-1",
            "-endpoint=unix:///csi/csi.sock",
            "-deviceManager=ndctl",
            "-statePath=/state",
            "-pmemPercentage=50",
            "-nodeSelector={\"storage\":\"pmem\"}",
            "-metricsListen=:10010",
            "-metricsPath=/m",
            "-schedulerListen=:8000",
            "-insecureSchedulerListen=127.0.0.1:8001");

    assertThat(settings)
        .isEqualTo(
            new DriverProgramSettings(
                Mode.WEBHOOKS,
                new DriverSettings(
                    new DriverName("second.example.org"),
                    "worker-1",
                    new Endpoint(Path.of("/csi/csi.sock")),
                    Path.of("/state"),
                    DeviceMode.DIRECT,
                    50,
                    Optional.of(new ListenAddress("", 10010)),
                    "/m"),
                false,
                new NodeSelector(Map.of("storage", "pmem")),
                Optional.of(new ListenAddress("", 8000)),
                Optional.of(new ListenAddress("127.0.0.1", 8001)),
                Optional.of(Path.of("/k"))));
  }

  @Test
  void theStartupTaintIsRemovedOnRequest() {
    assertThat(settings(Map.of(), "-startupTaint=true").startupTaint()).isTrue();
  }

  @Test
  void stateOfASecondDriverLiesApart() {
    assertThat(settings(Map.of(), "-drivername=second.example.org").driver().statePath())
        .isEqualTo(Path.of("/var/lib/second.example.org"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-mode=both | -mode=both is unknown: use node or controller or webhooks or force-convert-raw-namespaces",
        "-drivername=Not_A_Name | -drivername=Not_A_Name: driver name",
        "-nodeid= | -nodeid is empty",
        "-mode=force-convert-raw-namespaces -nodeid= | -nodeid is empty",
        "-endpoint=csi.sock | endpoint \"csi.sock\" is not a Unix socket",
        "-endpoint= | endpoint \"\" is not a Unix socket",
        "-startupTaint=maybe | -startupTaint=maybe: write true or false",
        "-startupTaint=true -mode=controller | -startupTaint=true belongs to -mode=node",
        "-deviceManager=raid | -deviceManager=raid: use lvm, direct or file",
        "-pmemPercentage=half | -pmemPercentage=half: not a whole number",
        "-pmemPercentage=-1 | -pmemPercentage=-1 is outside 0 to 100",
        "-pmemPercentage=101 | -pmemPercentage=101 is outside 0 to 100",
        "-metricsListen=10010 | -metricsListen=10010: \"10010\" is no address",
        "-metricsPath=metrics | -metricsPath=metrics is no path",
        "-nodeSelector=pmem | -nodeSelector=pmem is no JSON object",
        "-nodeSelector={\"a\":1} | -nodeSelector={\"a\":1} is no JSON object",
        "-nodeSelector={\"a\":\"b\" | -nodeSelector={\"a\":\"b\" is no JSON object",
        "-nodeSelector={}{} | -nodeSelector={}{} is no JSON object",
        "-schedulerListen=:8000 | -schedulerListen and -insecureSchedulerListen belong to"
            + " -mode=controller: leave them out",
      })
  void wrongValuesAreNamed(String argument, String message) {
    assertThatThrownBy(() -> settings(Map.of(), argument.split(" ", -1)))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith(message);
  }

  private static DriverProgramSettings settings(
      Map<String, String> environment, String... arguments) {
    DriverFlags flags = new DriverFlags();
    CommandLine parser = new CommandLine(new Empty());
    PicocliOptions.add(parser.getCommandSpec(), flags.group(), 1);
    List<String> normalized = GoFlags.normalize(Arrays.asList(arguments), parser);
    parser.parseArgs(normalized.toArray(String[]::new));
    return flags.settings(
        new CliEnvironment(environment, InputStream.nullInputStream(), System.out, System.err));
  }
}
