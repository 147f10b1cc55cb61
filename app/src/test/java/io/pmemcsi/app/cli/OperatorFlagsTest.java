package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pmemcsi.app.settings.OperatorSettings;
import io.pmemcsi.base.error.UsageException;
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

class OperatorFlagsTest {

  @Command
  private static final class Empty {}

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

  @Test
  void aWrongSwitchIsRefusedWithItsName() {
    assertThatThrownBy(() -> settings(Map.of(), "-leader-election=yes"))
        .isInstanceOf(UsageException.class)
        .hasMessage("-leader-election=yes: write true or false");
  }

  /** By picocli, and without it, with the same result. */
  private static OperatorSettings settings(Map<String, String> variables, String... arguments) {
    var environment =
        new CliEnvironment(variables, InputStream.nullInputStream(), System.out, System.err);
    var quick = new OperatorFlags();
    assertThat(FlagGroup.parse(GoFlags.normalize(Arrays.asList(arguments)), List.of(quick.group())))
        .as("parsed without picocli")
        .isTrue();
    var flags = new OperatorFlags();
    CommandLine parser = new CommandLine(new Empty());
    PicocliOptions.add(parser.getCommandSpec(), flags.group(), 1);
    List<String> normalized = GoFlags.normalize(Arrays.asList(arguments), parser);
    parser.parseArgs(normalized.toArray(String[]::new));
    OperatorSettings settings = flags.settings(environment);
    assertThat(quick.settings(environment)).isEqualTo(settings);
    return settings;
  }
}
