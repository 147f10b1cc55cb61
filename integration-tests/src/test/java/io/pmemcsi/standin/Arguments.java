package io.pmemcsi.standin;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The flags of a sidecar, as Go programs read them: one or two dashes, and true without a value.
 */
record Arguments(Map<String, String> values) {

  static Arguments parse(String... arguments) {
    Map<String, String> values = new HashMap<>();
    for (String argument : arguments) {
      String flag = argument.replaceFirst("^--?", "");
      int equals = flag.indexOf('=');
      values.put(
          equals < 0 ? flag : flag.substring(0, equals),
          equals < 0 ? "true" : flag.substring(equals + 1));
    }
    return new Arguments(values);
  }

  String get(String flag) {
    String value = values.get(flag);
    if (value == null) {
      throw new IllegalArgumentException("the flag --%s is missing: %s".formatted(flag, values));
    }
    return value;
  }

  boolean isTrue(String flag) {
    return List.of("true", "1", "t").contains(values.getOrDefault(flag, "false"));
  }
}
