package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class FlagGroupTest {
  private static final FlagDefinition LEVEL =
      new FlagDefinition(List.of("-v", "--v"), "LEVEL", "3", "A level.");
  private static final FlagDefinition SHARE = FlagDefinition.of("--share", "N", "100", "A share.");

  private final FlagGroup first = new FlagGroup(LEVEL);
  private final FlagGroup second = new FlagGroup(SHARE);

  @Command
  private static final class Empty {}

  @Test
  void aFlagThatIsNotGivenHasItsDefault() {
    assertThat(parse()).isTrue();

    assertThat(first.value(LEVEL)).isEqualTo("3");
    assertThat(second.value(SHARE)).isEqualTo("100");
  }

  @Test
  void theLastValueOfAFlagCounts() {
    assertThat(parse("--v=4", "--share=50", "--share=60")).isTrue();

    assertThat(first.value(LEVEL)).isEqualTo("4");
    assertThat(second.value(SHARE)).isEqualTo("60");
  }

  @Test
  void theLastValueCountsInWhicheverSpelling() {
    parse("-v=0", "--v=4");
    assertThat(first.value(LEVEL)).isEqualTo("4");

    parse("--v=4", "-v=0");
    assertThat(first.value(LEVEL)).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--unknown=1", "--v", "audit", "--help"})
  void otherFormsAreLeftToPicocliAsAWhole(String argument) {
    assertThat(parse("--v=4", argument)).isFalse();

    assertThat(first.value(LEVEL)).isEqualTo("3");
  }

  static Stream<FlagGroup> groups() {
    return Stream.of(
        new DriverFlags().group(),
        new ControllerFlags().group(),
        new OperatorFlags().group(),
        new RegistryFlags().group(),
        new LogFlags().group());
  }

  @ParameterizedTest
  @MethodSource("groups")
  void picocliSetsTheSameFlags(FlagGroup group) {
    for (FlagDefinition flag : group.definitions()) {
      for (String name : flag.names()) {
        CommandLine parser = new CommandLine(new Empty());
        PicocliOptions.add(parser.getCommandSpec(), group, 1);

        parser.parseArgs(name + "=71");

        for (FlagDefinition other : group.definitions()) {
          assertThat(group.value(other))
              .as("%s after %s", other.names(), name)
              .isEqualTo(other.equals(flag) ? "71" : other.defaultValue());
        }
      }
    }
  }

  private boolean parse(String... arguments) {
    return FlagGroup.parse(List.of(arguments), List.of(first, second));
  }
}
