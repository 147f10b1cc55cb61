package io.pmemcsi.app.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Flags and their values. picocli takes its options from the definitions; a command line that has
 * only the form {@code --name=value}, and switches, is parsed here, because no cache of the JVM can
 * hold picocli's classes, and loading them is a third of the time until a node driver serves.
 * Anything else on a command line is left to picocli and its messages.
 */
final class FlagGroup {
  private final List<FlagDefinition> definitions;
  private final Map<FlagDefinition, String> values = new HashMap<>();

  FlagGroup(FlagDefinition... definitions) {
    this.definitions = List.of(definitions);
  }

  List<FlagDefinition> definitions() {
    return definitions;
  }

  /** The value of a flag, or its default. */
  String value(FlagDefinition flag) {
    return values.getOrDefault(flag, flag.defaultValue());
  }

  void set(FlagDefinition flag, String value) {
    values.put(flag, value);
  }

  /** Sets a flag back to its default. */
  void reset(FlagDefinition flag) {
    values.remove(flag);
  }

  /** Sets all flags, or none and returns false when picocli has to parse them. */
  static boolean parse(List<String> arguments, List<FlagGroup> groups) {
    // in the order of the command line: a flag may have two names, and its last value counts
    List<Runnable> settings = new ArrayList<>();
    for (String argument : arguments) {
      if (!argument.startsWith("-")) {
        return false;
      }
      Optional<Runnable> setting =
          groups.stream().flatMap(group -> group.setting(argument).stream()).findFirst();
      if (setting.isEmpty()) {
        return false;
      }
      settings.add(setting.get());
    }
    settings.forEach(Runnable::run);
    return true;
  }

  private Optional<Runnable> setting(String argument) {
    int equals = argument.indexOf('=');
    String name = equals < 0 ? argument : argument.substring(0, equals);
    return definitions.stream()
        .filter(flag -> flag.names().contains(name))
        .findFirst()
        .flatMap(
            flag ->
                (equals < 0 ? flag.bareValue() : Optional.of(argument.substring(equals + 1)))
                    .map(value -> () -> set(flag, value)));
  }
}
