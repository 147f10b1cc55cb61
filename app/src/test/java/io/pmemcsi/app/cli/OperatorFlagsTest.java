package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pmemcsi.app.settings.OperatorSettings;
import io.pmemcsi.base.http.ListenAddress;
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
import picocli.CommandLine.Mixin;

class OperatorFlagsTest {

  @Command
  private static final class Line {
    @Mixin private final OperatorFlags flags = new OperatorFlags();
  }

  @Test
  void defaultsAreThoseOfTheDocumentation() {
    assertThat(settings(Map.of()))
        .isEqualTo(
            new OperatorSettings(
                Optional.empty(),
                false,
                Optional.of(new ListenAddress("", 8080)),
                Optional.empty(),
                Optional.empty()));
  }

  @Test
  void everyFlagHasItsEffect() {
    OperatorSettings settings =
        settings(
            Map.of("KUBECONFIG", "/from/environment"),
            "-image=registry.local/pmem-csi:2",
            "-leader-election",
            "-metrics-addr=127.0.0.1:9",
            "--config=/etc/config.yaml",
            "--kubeconfig=/k");

    assertThat(settings)
        .isEqualTo(
            new OperatorSettings(
                Optional.of("registry.local/pmem-csi:2"),
                true,
                Optional.of(new ListenAddress("127.0.0.1", 9)),
                Optional.of(Path.of("/etc/config.yaml")),
                Optional.of(Path.of("/k"))));
  }

  @Test
  void environmentNamesTheClusterWhereNoFlagDoes() {
    assertThat(settings(Map.of("KUBECONFIG", "/k")).kubeconfig()).contains(Path.of("/k"));
  }

  @Test
  void emptyPlacesInTheListOfTheEnvironmentDoNotCount() {
    assertThat(settings(Map.of("KUBECONFIG", ":/k:")).kubeconfig()).contains(Path.of("/k"));
  }

  @Test
  void zeroSwitchesMetricsOff() {
    assertThat(settings(Map.of(), "-metrics-addr=0").metricsAddress()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "-leader-election,true",
    "-leader-election=true,true",
    "--leader-election,true",
    "-leader-election=1,true",
    "-leader-election=t,true",
    "-leader-election=T,true",
    "-leader-election=TRUE,true",
    "-leader-election=True,true",
    "-leader-election=false,false",
    "-leader-election=0,false",
    "-leader-election=f,false",
    "-leader-election=F,false",
    "-leader-election=FALSE,false",
    "-leader-election=False,false"
  })
  void switchesAreReadAsInGo(String argument, boolean expected) {
    assertThat(settings(Map.of(), argument).leaderElection()).isEqualTo(expected);
  }

  private static OperatorSettings settings(Map<String, String> environment, String... arguments) {
    Line line = new Line();
    CommandLine parser = new CommandLine(line);
    List<String> normalized = GoFlags.normalize(Arrays.asList(arguments), parser);
    parser.parseArgs(normalized.toArray(String[]::new));
    return line.flags.settings(
        new CliEnvironment(environment, InputStream.nullInputStream(), System.out, System.err));
  }
}
