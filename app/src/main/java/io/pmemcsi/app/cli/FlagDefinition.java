package io.pmemcsi.app.cli;

import java.util.List;

/**
 * One flag with a text value.
 *
 * @param names the first one is the documented one
 * @param label the value in the help
 * @param description for the help; empty for a flag that is not shown there
 */
record FlagDefinition(List<String> names, String label, String defaultValue, String description) {
  FlagDefinition {
    names = List.copyOf(names);
  }

  static FlagDefinition of(String name, String label, String defaultValue, String description) {
    return new FlagDefinition(List.of(name), label, defaultValue, description);
  }

  /** A flag that is accepted but not documented. */
  static FlagDefinition hidden(String name) {
    return of(name, "VALUE", "", "");
  }

  boolean isHidden() {
    return description.isEmpty();
  }
}
