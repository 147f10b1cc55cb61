package io.pmemcsi.app.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Option;

class PlainFlagsTest {

  private final DriverFlags driver = new DriverFlags();
  private final LogFlags log = new LogFlags();

  @Test
  void theLastValueOfAFlagCounts() throws Exception {
    assertThat(set("--v=4", "--pmemPercentage=50", "--pmemPercentage=60")).isTrue();

    assertThat(value(log, "verbosity")).isEqualTo("4");
    assertThat(value(driver, "pmemPercentage")).isEqualTo(60);
  }

  @Test
  void theLastValueCountsInWhicheverSpelling() throws Exception {
    set("-v=0", "--v=4");
    assertThat(value(log, "verbosity")).isEqualTo("4");

    set("--v=4", "-v=0");
    assertThat(value(log, "verbosity")).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--unknown=1", "--v", "audit", "--pmemPercentage=many", "--help"})
  void whatIsNotPlainIsLeftAloneAsAWhole(String argument) throws Exception {
    assertThat(set("--v=4", argument)).isFalse();

    assertThat(value(log, "verbosity")).isEqualTo("3");
  }

  static Stream<Supplier<PlainFlags>> holders() {
    return Stream.of(DriverFlags::new, LogFlags::new);
  }

  /** What picocli is told by annotations, and what it is not asked for. */
  @ParameterizedTest
  @MethodSource("holders")
  void everyFlagIsSetAsPicocliWouldSetIt(Supplier<PlainFlags> holder) throws Exception {
    List<Field> flags =
        Stream.of(holder.get().getClass().getDeclaredFields())
            .filter(field -> field.isAnnotationPresent(Option.class))
            .toList();
    assertThat(flags).isNotEmpty();
    for (Field flag : flags) {
      for (String name : flag.getAnnotation(Option.class).names()) {
        PlainFlags changed = holder.get();
        changed.setting(name, "71").orElseThrow(() -> new AssertionError(name)).run();

        for (Field field : flags) {
          boolean meant = field.equals(flag);
          assertThat(String.valueOf(value(changed, field.getName())).equals("71"))
              .as(name + " sets " + field.getName())
              .isEqualTo(meant);
        }
      }
    }
  }

  private boolean set(String... arguments) {
    return PlainFlags.set(List.of(arguments), List.of(driver, log));
  }

  private static Object value(PlainFlags holder, String name) throws ReflectiveOperationException {
    Field field = holder.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(holder);
  }
}
