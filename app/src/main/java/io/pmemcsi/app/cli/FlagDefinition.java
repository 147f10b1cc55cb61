package io.pmemcsi.app.cli;

import java.util.List;
import java.util.Optional;

/**
 * One flag with a text value.
 *
 * @param names the first one is the documented one
 * @param label the value in the help
 * @param bareValue what the flag means without a value; empty where it needs one
 * @param description for the help
 */
record FlagDefinition(
    List<String> names,
    String label,
    String defaultValue,
    Optional<String> bareValue,
    String description) {
  FlagDefinition {
    names = List.copyOf(names);
  }

  FlagDefinition(List<String> names, String label, String defaultValue, String description) {
    this(names, label, defaultValue, Optional.empty(), description);
  }

  static FlagDefinition of(String name, String label, String defaultValue, String description) {
    return new FlagDefinition(List.of(name), label, defaultValue, description);
  }

  /** A switch that is off unless it is given. */
  static FlagDefinition ofSwitch(String name, String description) {
    return new FlagDefinition(
        List.of(name), "true|false", "false", Optional.of("true"), description);
  }
}
