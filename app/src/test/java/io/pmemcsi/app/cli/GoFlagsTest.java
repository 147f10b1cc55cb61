package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class GoFlagsTest {

  @ParameterizedTest
  @CsvSource({
    "driver -mode=node, driver --mode=node",
    "driver --mode=node, driver --mode=node",
    "driver -mode node, driver --mode node",
    "driver -v=5, driver -v=5",
    "driver -v 5, driver -v 5",
    "driver -metrics-addr=0, driver --metrics-addr=0",
    "operator -leader-election, operator --leader-election",
    "render -f -, render -f -",
    "driver -pmemPercentage -5, driver --pmemPercentage -5",
    "render -- -file, render -- -file",
    "render -fdeploy/a=b.yaml, render -fdeploy/a=b.yaml",
    "render -f=a.yaml, render -f=a.yaml",
    "render -nspace, render -nspace",
    "render -filename=a.yaml, render --filename=a.yaml",
    "render -image i, render --image i",
    "driver -nodid=a, driver --nodid=a",
    "driver -verbose, driver --verbose",
  })
  void bothSpellingsBecomeOne(String given, String expected) {
    CommandLine program = Program.commandLine(CliEnvironment.ofProcess());

    assertThat(GoFlags.normalize(words(given), program)).isEqualTo(words(expected));
  }

  private static List<String> words(String text) {
    return Arrays.asList(text.split(" ", -1));
  }
}
