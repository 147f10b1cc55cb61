package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Option;

class PlainFlagsTest {

  private static final class Flags {
    @Option(names = {"-v", "--v"})
    private String level = "3";

    @Option(names = "--percentage")
    private int percentage = 100;

    @Option(names = "--on")
    private boolean on;
  }

  private final Flags flags = new Flags();

  @Test
  void theLastValueOfAFlagCounts() {
    assertThat(PlainFlags.set(List.of("--v=4", "--percentage=50", "--percentage=60"), flags))
        .isTrue();

    assertThat(flags.level).isEqualTo("4");
    assertThat(flags.percentage).isEqualTo(60);
  }

  @Test
  void theLastValueCountsInWhicheverSpelling() {
    PlainFlags.set(List.of("-v=0", "--v=4"), flags);
    assertThat(flags.level).isEqualTo("4");

    PlainFlags.set(List.of("--v=4", "-v=0"), flags);
    assertThat(flags.level).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"--unknown=1", "--v", "audit", "--percentage=many", "--on=true", "--help"})
  void whatIsNotPlainIsLeftAloneAsAWhole(String argument) {
    assertThat(PlainFlags.set(List.of("--v=4", argument), flags)).isFalse();

    assertThat(flags.level).isEqualTo("3");
    assertThat(flags.on).isFalse();
  }
}
