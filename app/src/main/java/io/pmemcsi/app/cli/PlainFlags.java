package io.pmemcsi.app.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Flags that can be set without picocli where they are of the form {@code --name=value}: no cache
 * of the JVM can hold picocli's classes, its annotations among them, and its start is a third of
 * what a node driver needs until it answers. Anything else on a command line, and anything wrong,
 * is left to picocli and its messages.
 */
interface PlainFlags {

  /** What sets a flag of this name; empty for any other, and for a value that is wrong. */
  Optional<Runnable> setting(String name, String value);

  /** Sets all flags, or none and returns false when picocli has to look at them. */
  static boolean set(List<String> arguments, List<PlainFlags> holders) {
    // in the order of the command line: a flag may have two spellings, and its last value counts
    List<Runnable> settings = new ArrayList<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (!argument.startsWith("-") || equals < 0) {
        return false;
      }
      String name = argument.substring(0, equals);
      String value = argument.substring(equals + 1);
      Optional<Runnable> found = Optional.empty();
      for (PlainFlags holder : holders) {
        found = found.isPresent() ? found : holder.setting(name, value);
      }
      if (found.isEmpty()) {
        return false;
      }
      settings.add(found.get());
    }
    settings.forEach(Runnable::run);
    return true;
  }
}
